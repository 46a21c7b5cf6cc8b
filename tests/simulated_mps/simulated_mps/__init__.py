"""PyTorch's MPS device on a machine without one, to test on Linux what would run on a Mac.

import simulated_mps
simulated_mps.enable()
torch.ones(3, device="mps")
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simulated_mps.device import enable
    from simulated_mps.errors import SimulationError
    from simulated_mps.reports import Report, report

__all__ = ["Report", "SimulationError", "enable", "report"]


def __getattr__(name: str) -> object:
    """Import what is asked for only now: pytest loads the plugin where nobody wants PyTorch."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import torch  # noqa: F401 - before our modules, since it may enable the device (simulated_mps_autoload)

    from simulated_mps import device, errors, reports

    values = {
        "Report": reports.Report,
        "SimulationError": errors.SimulationError,
        "enable": device.enable,
        "report": reports.report,
    }
    return values[name]
