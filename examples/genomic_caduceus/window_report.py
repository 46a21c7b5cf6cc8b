"""The report of a run of pretrain.py: its settings, a line per epoch, and its result."""

from typing import TYPE_CHECKING, Any

from examples.genomic_caduceus import learning
from examples.programs.report import Curves, draw_curves, machine_lines, recipe_line, write_summary
from examples.programs.run_folder import RunFolder

if TYPE_CHECKING:
    from examples.genomic_caduceus.pretrain import MaskedBases


HEADER = learning.HEADER


def describe(task: "MaskedBases", config: dict[str, Any]) -> list[str]:
    """Return the settings of a run as lines: network, versions, device, precision, data, recipe."""
    options, data = task.options, task.data
    lines = [
        learning.network_line(options, config),
        *machine_lines(config),
        f"data       {data.name}: {data.source}",
        f"           {len(data.train):,} sequences of {data.train.shape[1]:,} bases to learn from, "
        f"{len(data.val):,} held out; {options.mlm_probability:.0%} of the bases are to be guessed",
    ]
    if data.floors:
        floors = ", ".join(f"{sees} {loss:.3f}" for sees, loss in data.floors.items())
        lines.append(f"           lowest loss of a network that sees {floors}")
    return [
        *lines,
        recipe_line(options, config, f"AdamW, lr {options.lr:g} (warm-up, cosine)", "sequences"),
    ]


def conclude(task: "MaskedBases", run: RunFolder) -> list[str]:
    """Draw curves.png, write summary.json, and return the lines about the result."""
    progress, floors = task.state.progress, task.data.floors
    result = progress["result"]
    panels = (
        Curves("cross-entropy (nats)", {"training": "train_loss", "held out": "val_loss"}, dict(floors)),
        Curves("bases right", {"training": "train_accuracy", "held out": "val_accuracy"}, percent=True),
    )
    title = f"{task.data.name}: loss {result['val_loss']:.3f} on masked bases"
    draw_curves(run.metrics_file, run.path / "curves.png", title, panels)
    return [
        f"done       loss {result['val_loss']:.4f}, {result['val_accuracy']:.2%} of the masked bases right, "
        f"after {progress['seconds']:.1f} s",
        *write_summary(run, task.options, task.state, floors=dict(floors)),
        f"next       python examples/genomic_caduceus/train.py train.pretrained={run.path}",
    ]
