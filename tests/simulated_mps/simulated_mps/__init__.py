"""PyTorch's MPS device on a machine without one, to test on Linux what would run on a Mac.

import simulated_mps
simulated_mps.enable()
torch.ones(3, device="mps")
"""

import torch  # noqa: F401 - before our modules, since it may enable the device (simulated_mps_autoload)

from simulated_mps.device import enable
from simulated_mps.errors import SimulationError
from simulated_mps.report import Report, report

__all__ = ["Report", "SimulationError", "enable", "report"]
