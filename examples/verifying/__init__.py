"""The parts of examples/verify_handbook.py."""
