"""The data sets of `--data`: generated plans, or a folder with train.npz, val.npz and test.npz."""

from examples.floorplan_diffusion.generated_plans import generate_splits, generate_test
from examples.floorplan_diffusion.plan_files import read_plans, read_splits
from examples.floorplan_diffusion.plans import PlanSet, Splits
from examples.programs.command_line import expanded
from snippets.errors import UsageError

NAMES = ("generated",)


def find_data(text: str) -> str:
    """Return "generated" or "folder" for `--data`. Raises UsageError."""
    if text in NAMES:
        return text
    if not expanded(text).is_dir():
        raise UsageError(
            f"--data {text}: neither {' nor '.join(NAMES)} nor an existing folder "
            "with train.npz, val.npz and test.npz"
        )
    return "folder"


def load_splits(data: str, plans: int, seed: int) -> Splits:
    """Return the plans of `--data`; `plans` and `seed` apply to generated ones. Raises UsageError."""
    if data == "generated":
        return generate_splits(plans, seed)
    return read_splits(expanded(data))


def load_test(data: str, plans: int, seed: int) -> PlanSet:
    """Return the plans of the test split. Raises UsageError."""
    if data == "generated":
        return generate_test(plans, seed)
    return read_plans(expanded(data) / "test.npz")
