"""The report of a run of train.py: its settings, a line per epoch, and its result."""

from typing import TYPE_CHECKING, Any

from examples.genomic_caduceus import learning
from examples.programs.report import Curves, draw_curves, machine_lines, recipe_line, write_summary
from examples.programs.run_folder import RunFolder

if TYPE_CHECKING:
    from examples.genomic_caduceus.train import Classification


HEADER = learning.HEADER


def describe(task: "Classification", config: dict[str, Any]) -> list[str]:
    """Return the settings of a run as lines: network, versions, device, precision, data, recipe."""
    options, data = task.options, task.data
    lines = [
        learning.network_line(options, config),
        *machine_lines(config),
        f"data       {data.name}: {data.source}",
        f"           {len(data.train):,} sequences to learn from, {len(data.val):,} held out, "
        f"{len(data.test):,} for the test; {data.length:,} tokens; classes {', '.join(data.names)}",
    ]
    if data.best is not None:
        lines.append(
            f"           accuracy {data.best[0]:.2%} on the test sequences at best, loss {data.best[1]:.4f}"
        )
    if data.findings is not None and (warning := data.findings.duplicates.warning(len(data.test))):
        lines.append(warning)
    elif data.findings is not None and data.findings.duplicates.test_in_train:
        lines.append(
            f"note       {data.findings.duplicates.test_in_train:,} test sequences are in the training data, "
            "too, on either strand; check_data.py has more"
        )
    if options.pretrained is not None:
        lines.append(f"           begins with {config['pretrained']}")
    return [*lines, recipe_line(options, config, f"AdamW, lr {options.lr:g} (warm-up, cosine)", "sequences")]


def conclude(task: "Classification", run: RunFolder) -> list[str]:
    """Draw curves.png, write summary.json, and return the lines about the result."""
    data, progress = task.data, task.state.progress
    result = progress["result"]
    accuracy, loss = data.best or (None, None)
    panels = (
        Curves(
            "cross-entropy (nats)",
            {"training": "train_loss", "held out": "val_loss"},
            {} if loss is None else {"best possible": loss},
        ),
        Curves(
            "accuracy",
            {"training": "train_accuracy", "held out": "val_accuracy"},
            {} if accuracy is None else {"best possible": accuracy},
            percent=True,
        ),
    )
    title = f"{data.name}: {result['test_accuracy']:.2%} of the test sequences right"
    draw_curves(run.metrics_file, run.path / "curves.png", title, panels)
    best = "" if accuracy is None else f" ({accuracy:.2%} at best)"
    known = {"best_possible_accuracy": accuracy, "best_possible_loss": loss}
    return [
        f"done       {result['test_accuracy']:.2%} of {len(data.test):,} test sequences right{best}, "
        f"after {progress['seconds']:.1f} s",
        *write_summary(run, task.options, task.state, **known),
    ]
