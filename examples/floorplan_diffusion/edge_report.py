"""The report of a run of stage 2: its settings, a line per epoch, and its result."""

from typing import TYPE_CHECKING, Any

from examples.floorplan_diffusion.training_data import data_lines
from examples.programs.report import Curves, draw_curves, machine_lines, recipe_line, write_summary
from examples.programs.run_folder import RunFolder

if TYPE_CHECKING:
    from examples.floorplan_diffusion.train_edges import EdgePrediction

HEADER = "epoch   step  wall loss  fractions  held-out F1  accuracy  plans/s"


def describe(task: "EdgePrediction", config: dict[str, Any]) -> list[str]:
    """Return the settings of a run as lines: network, versions, device, precision, data, recipe."""
    options = task.options
    again = ", each computed again in the backward pass" if options.recompute else ""
    return [
        f"network    {options.layers} layers of width {options.width}, {options.heads} heads{again}: "
        f"{config['parameters']:,} parameters",
        *machine_lines(config),
        *data_lines(task.splits, config),
        recipe_line(options, config, f"AdamW, lr {options.lr:g} (cosine)", "plans"),
    ]


def epoch_line(epoch: int, step: int, result: dict[str, float], speed: float) -> str:
    """Return one line of the table under HEADER."""
    return (
        f"{epoch:5d} {step:6d} {result['wall_loss']:10.4f} {result['fraction_loss']:10.4f} "
        f"{result['val_f1']:12.4f} {result['val_accuracy']:9.2%} {speed:8.0f}"
    )


def conclude(task: "EdgePrediction", run: RunFolder) -> list[str]:
    """Draw curves.png, write summary.json, and return the lines about the result."""
    progress = task.state.progress
    result = progress["result"]
    panels = (
        Curves("loss", {"training": "train_loss"}, single="loss", logarithmic=True),
        Curves("F1 of walls", {"held out": "val_f1"}, {"best possible": 1.0}),
    )
    title = f"walls of {task.splits.train.name} plans: F1 {result['val_f1']:.3f}"
    draw_curves(run.metrics_file, run.path / "curves.png", title, panels)
    lines = [
        f"done       F1 {result['val_f1']:.3f}, accuracy {result['val_accuracy']:.2%}, "
        f"after {progress['seconds']:.1f} s"
    ]
    lines += write_summary(run, task.options, task.state)
    return [*lines, "next       python examples/floorplan_diffusion/generate.py"]
