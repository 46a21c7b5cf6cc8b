"""Measure how much wrong training labels cost each optimizer, by the same grid with and without them.

    python examples/cifar_optimizers/label_noise.py --label-noise 0.3 [options of grid.py and train.py]

Both grids are in the folder --out. Repeating the command continues them. The held-out labels are right in
both. With equal seeds, both runs of a pair start from equal weights and see the images in equal order.
"""

import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the folder of examples/ and snippets/
try:
    from examples.programs import imports

    imports.prepare(__file__)
except ModuleNotFoundError:
    print(f"error: {__file__} needs examples/ and snippets/, as in the handbook; copy both", file=sys.stderr)
    sys.exit(2)

from examples.cifar_optimizers.grid import grid_parser, how_to_go_on, make_folder, read_grid, run_grid
from examples.cifar_optimizers.grid_report import mean_and_deviation
from examples.programs.command_line import number
from examples.programs.report import provenance
from examples.programs.run_folder import check_target, json_with
from snippets.atomic_write import replace_json
from snippets.errors import exit_with_one_line, tell
from snippets.stop_signals import StopSignals


# --8<-- [start:pairs]
@dataclass(frozen=True)
class Cost:
    """Test accuracies (0 to 1) of an optimizer with right and with wrong labels, seed by seed."""

    optimizer: str
    clean: list[float]
    noisy: list[float]

    @property
    def drops(self) -> list[float]:
        """Return the loss of accuracy for each seed."""
        return [clean - noisy for clean, noisy in zip(self.clean, self.noisy, strict=True)]


def pair(clean: list[dict[str, Any]], noisy: list[dict[str, Any]]) -> list[Cost]:
    """Return the cost for each optimizer, the smallest first, without seeds of failed runs."""
    partners = {(run["optimizer"], run["seed"]): run for run in noisy}
    found: dict[str, Cost] = {}
    for run in clean:
        partner = partners[run["optimizer"], run["seed"]]
        if run["status"] == partner["status"] == "finished":
            cost = found.setdefault(run["optimizer"], Cost(run["optimizer"], [], []))
            cost.clean.append(run["test_accuracy"])
            cost.noisy.append(partner["test_accuracy"])
    return sorted(found.values(), key=lambda cost: statistics.fmean(cost.drops))


# --8<-- [end:pairs]
def table(costs: list[Cost], share: float) -> list[str]:
    """Return the lines of a table of optimizers."""
    lines = ["", f"optimizer   n   right labels    {share:.0%} of them wrong  lost, in points"]
    for cost in costs:
        columns = "   ".join(mean_and_deviation(values) for values in (cost.clean, cost.noisy, cost.drops))
        lines.append(f"{cost.optimizer:<10} {len(cost.drops):2d}  {columns}")
    lines.append("test accuracy after the last epoch, mean ± sample standard deviation over n seeds")
    return lines


def main(argv: Sequence[str] | None = None) -> int:
    """Run both grids of the command line and return the exit code. Raises UsageError."""
    about = "Measure what wrong training labels cost each optimizer."
    parser = grid_parser("label_noise.py", about, "runs/cifar_label_noise")
    parser.add_argument(
        "--label-noise", type=number(0, 1, above=True, below=True), default=0.3, help="share made wrong; 0.3"
    )
    options, words = parser.parse_known_args(argv)
    share = str(options.label_noise)  # all digits, so that training and report agree
    folders = options.out / "noise-0", options.out / f"noise-{share}"
    added = (), ("--label-noise", share)
    grids = []
    for folder, noise in zip(folders, added, strict=True):
        options.out = folder
        grids.append(read_grid(options, [*words, *noise]))
    check_target(options.out.parent / "label_noise.json", json_with("label_noise", "test_accuracy"))
    results = []
    with StopSignals() as stop:
        for grid in grids:
            make_folder(grid.folder)
            tell(f"grid       {len(grid.runs())} runs in {grid.folder}")
            results.append(run_grid(grid, stop))
        if stop.received:
            print(how_to_go_on(stop.received, results[0] + results[1]))
            return 128 + stop.received
    costs = pair(*results)
    print("\n".join(table(costs, options.label_noise)))
    report(grids[0].folder.parent / "label_noise.json", options.label_noise, costs)
    return int(any(run["status"] != "finished" for run in results[0] + results[1]))


def report(path: Path, share: float, costs: list[Cost]) -> None:
    """Write the accuracies to `path`."""
    pairs = {cost.optimizer: {"clean": cost.clean, "noisy": cost.noisy} for cost in costs}
    replace_json(path, {"label_noise": share, "test_accuracy": pairs, "provenance": provenance()})
    tell(f"data       {path}")


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
