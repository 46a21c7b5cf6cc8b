"""The report of a run of stage 1: its settings, a line per epoch, and its result."""

from typing import TYPE_CHECKING, Any

from examples.floorplan_diffusion.training_data import data_lines
from examples.programs.report import Curves, draw_curves, machine_lines, recipe_line, write_summary
from examples.programs.run_folder import RunFolder

if TYPE_CHECKING:
    from examples.floorplan_diffusion.train_nodes import NodeDiffusion

OPTIMIZERS = {"muon": "Muon and AdamW", "adamw": "AdamW"}
HEADER = "epoch   step  noise loss   in x, y  alignment  held-out loss   in x, y  plans/s"


def describe(task: "NodeDiffusion", config: dict[str, Any]) -> list[str]:
    """Return the settings of a run as lines: network, versions, device, precision, data, recipe."""
    options = task.options
    return [
        f"network    {options.layers} layers of width {options.width}, {options.heads} heads: "
        f"{config['parameters']:,} parameters",
        *machine_lines(config),
        *data_lines(task.splits, config),
        f"           loss without training: {task.trivial:g}, the sum of the noise's variances",
        recipe_line(options, config, f"{OPTIMIZERS[options.optimizer]}, lr {options.lr:g} (cosine)", "plans"),
    ]


def epoch_line(epoch: int, step: int, result: dict[str, float], speed: float) -> str:
    """Return one line of the table under HEADER."""
    return (
        f"{epoch:5d} {step:6d} {result['noise_loss']:11.3f} {result['place_loss']:9.3f} "
        f"{result['alignment_loss']:10.5f} {result['val_loss']:14.3f} "
        f"{result['val_place_loss']:9.3f} {speed:8.0f}"
    )


def conclude(task: "NodeDiffusion", run: RunFolder) -> list[str]:
    """Draw curves.png, write summary.json, and return the lines about the result."""
    progress = task.state.progress
    loss = progress["result"]["val_loss"]
    panels = [
        Curves(title, {"held out": name}, {"untrained": trivial}, logarithmic=True)
        for title, name, trivial in (
            ("noise that is not seen, all channels", "val_loss", task.trivial),
            ("in x and y", "val_place_loss", 2.0),
        )
    ]
    title = f"corners of {task.splits.train.name} plans: loss {loss:.3f} of {task.trivial:g}"
    draw_curves(run.metrics_file, run.path / "curves.png", title, panels)
    lines = [f"done       held-out loss {loss:.3f}, {loss / task.trivial:.1%} of the untrained one"]
    lines[0] += f", after {progress['seconds']:.1f} s"
    lines += write_summary(run, task.options, task.state, untrained=task.trivial)
    return [*lines, "next       python examples/floorplan_diffusion/train_edges.py, then generate.py"]
