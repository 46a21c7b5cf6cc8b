"""What builds, checks and measures the handbook. None of it is part of a training."""
