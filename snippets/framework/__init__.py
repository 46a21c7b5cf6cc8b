"""What no page shows: command lines, errors, options, run folders, the course of a run."""
