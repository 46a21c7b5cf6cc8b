"""The report of a run: printed lines, curves.png and summary.json."""

import platform
import shlex
import sys
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol, TypeVar

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from examples.programs.identity import machine_id, source_commit
from examples.programs.options import TrainingOptions, saved_options
from examples.programs.run_folder import RunFolder, finite_or_none, read_json, read_metrics
from snippets.atomic_write import replace_file, replace_json
from snippets.checkpoints import TrainingState
from snippets.device import macos_version
from snippets.errors import printable
from snippets.training_loop import Task

TaskType = TypeVar("TaskType", bound=Task, contravariant=True)


class Report(Protocol[TaskType]):
    """The report of a system, which is a module with these names."""

    HEADER: str  # of the table of epochs

    def describe(self, task: TaskType, config: dict[str, Any]) -> list[str]:
        """Return the lines to print at the start of a run."""

    def conclude(self, task: TaskType, run: RunFolder) -> list[str]:
        """Write curves.png and summary.json; return the lines to print at the end of a run."""


def machine_lines(config: dict[str, Any]) -> list[str]:
    """Return the lines about versions, device, precision and, if any, processes, compilation and switches."""
    facts = config["provenance"]
    lines = [f"versions   PyTorch {facts['torch']}, Python {facts['python']}, {facts['system']}"]
    names = "device", "processes", "precision", "compile", "speed"
    return lines + [f"{name:10} {config[name]}" for name in names if name in config]


def recipe_line(options: TrainingOptions, config: dict[str, Any], learning: str, samples: str) -> str:
    """Return the line about the recipe; `learning` names optimizer and rate, `samples` the unit of data."""
    count = options.batch_size * options.accumulate
    passes = f" in {options.accumulate} passes of {options.batch_size}" if options.accumulate > 1 else ""
    return (
        f"recipe     {learning}, weight decay {options.weight_decay:g}, {config['total_steps']:,} steps of "
        f"{count} {samples}{passes}, {config['steps_per_epoch']:,} per epoch, seed {options.seed}"
    )


def write_summary(run: RunFolder, options: TrainingOptions, state: TrainingState, **values: Any) -> list[str]:
    """Write summary.json: the last results, `values`, the best epoch, time, steps and options.

    The options come from config.json if it still exists, since a resumed run shares it. Returns the lines
    that name the pictures and weights of the run.
    """
    progress = state.progress
    summary = progress["result"] | values | {name: progress[name] for name in ("best_epoch", "seconds")}
    config = read_json(run.path / "config.json")
    summary |= {"steps": state.step, "options": saved_options(config) if config else asdict(options)}
    clean = {name: finite_or_none(value) for name, value in summary.items()}
    replace_json(run.path / "summary.json", clean)
    return [
        f"curves     {run.path / 'curves.png'}",
        f"weights    {run.last_checkpoint} and {run.best_checkpoint.name}",
    ]


TRAINING, HELD_OUT, LIMIT = "#0072b2", "#d55e00", "#666666"  # Okabe and Ito; grey
PARTS = {"training": TRAINING, "held out": HELD_OUT}


@dataclass(frozen=True)
class Curves:
    """The content of one panel: metrics by epoch for each part of the data, and known limits."""

    title: str
    metrics: dict[str, str]  # by part: "training" or "held out"
    limits: dict[str, float | None] = field(default_factory=dict)  # dashed lines; the second is dotted
    single: str | None = None  # the metric of single training batches
    logarithmic: bool = False
    percent: bool = False


def draw_curves(metrics: Path, image: Path, title: str, panels: Sequence[Curves]) -> None:
    """Draw the metrics of a run into the file `image`, with a panel for each of `panels`."""
    lines = read_metrics(metrics)
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    for axes, curves in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        draw_panel(axes, lines, curves)
    figure.suptitle(printable(title), fontsize=11, parse_math=False)  # it may contain any characters
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        replace_file(image, lambda file: figure.savefig(file, dpi=150, format="png"))


def draw_panel(axes: Axes, lines: list[dict[str, Any]], curves: Curves) -> None:
    """Draw the curves of one panel, without missing values."""
    if curves.single:
        axes.plot(*points(lines, curves.single), color=TRAINING, alpha=0.25, label="training, one batch")
    for part, metric in curves.metrics.items():
        axes.plot(*points(lines, metric), color=PARTS[part], marker="o", markersize=3, label=part)
    for (name, value), style in zip(curves.limits.items(), ("--", ":"), strict=False):
        if value is not None:
            axes.axhline(value, color=LIMIT, linestyle=style, linewidth=1, label=name)
    axes.set(xlabel="epoch", ylabel=curves.title, yscale="log" if curves.logarithmic else "linear")
    axes.set_xlim(left=0)
    if curves.percent:
        axes.yaxis.set_major_formatter(PercentFormatter(1))
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)


def points(lines: list[dict[str, Any]], metric: str) -> tuple[list[float], list[float]]:
    """Return the epochs that have a value of a metric, and the values."""
    known = [line for line in lines if line.get(metric) is not None]
    return [line["epoch"] for line in known], [line[metric] for line in known]


def provenance() -> dict[str, Any]:
    """Return versions, machine, command line, commit and time of this process."""
    macos, machine = macos_version(), platform.machine()
    return {
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "system": f"macOS {macos} {machine}" if macos else f"{platform.system()} {machine}",
        "kernel": platform.release(),
        "machine": machine_id(),
        "cpu_threads": torch.get_num_threads(),
        "command": shlex.join(sys.orig_argv),
        "git_commit": source_commit(),
        "started_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
