"""What runs a training program: its start, options, run folder, resume, report; no page shows it."""
