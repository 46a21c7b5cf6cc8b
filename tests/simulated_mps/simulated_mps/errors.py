"""What keeps the simulated device from being used, in one line."""


class SimulationError(Exception):
    """A PyTorch, a machine or a command that cannot be used; the text says why, and what to do."""
