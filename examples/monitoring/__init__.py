"""What examples/monitor.py is made of: the state of a run, its loss so far, the picture on the terminal."""
