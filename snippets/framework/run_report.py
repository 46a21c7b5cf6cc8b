"""What every run tells its user in the same words, and its summary.json."""

from dataclasses import asdict
from typing import Any, Protocol

from snippets.atomic_write import replace_json
from snippets.checkpoints import TrainingState
from snippets.framework.run_folder import RunFolder, finite_or_none
from snippets.framework.training_options import TrainingOptions
from snippets.training_loop import Task


class Report(Protocol):
    """What a system says about its runs: a module with these names."""

    HEADER: str  # above the lines of the epochs

    def describe(self, task: Task, config: dict[str, Any]) -> list[str]:
        """Return the lines that a run begins with."""

    def conclude(self, task: Task, run: RunFolder) -> list[str]:
        """Write curves.png and summary.json; return the lines that a run ends with."""


def machine_lines(config: dict[str, Any]) -> list[str]:
    """Return versions, device, precision and, where it was wanted, what became of compilation."""
    facts = config["provenance"]
    lines = [f"versions   PyTorch {facts['torch']}, Python {facts['python']}, {facts['system']}"]
    named = {name: config[name] for name in ("device", "precision", "compile") if name in config}
    return lines + [f"{name:10} {value}" for name, value in named.items()]


def recipe_line(options: TrainingOptions, config: dict[str, Any], learning: str, samples: str) -> str:
    """Return the recipe; `learning` names the optimizer with its rate, `samples` what a step takes."""
    count = options.batch_size * options.accumulate
    passes = f" in {options.accumulate} passes of {options.batch_size}" if options.accumulate > 1 else ""
    return (
        f"recipe     {learning}, weight decay {options.weight_decay:g}, {config['total_steps']:,} steps of "
        f"{count} {samples}{passes}, {config['steps_per_epoch']:,} per epoch, seed {options.seed}"
    )


def write_summary(run: RunFolder, options: TrainingOptions, state: TrainingState, **values: Any) -> list[str]:
    """Write summary.json: the last results, `values`, the best epoch, time, steps and options.

    Returns the lines that name the pictures and weights of the run.
    """
    progress = state.progress
    summary = progress["result"] | values | {name: progress[name] for name in ("best_epoch", "seconds")}
    summary |= {"steps": state.step, "options": asdict(options)}
    clean = {name: finite_or_none(value) for name, value in summary.items()}
    replace_json(run.path / "summary.json", clean)
    return [
        f"curves     {run.path / 'curves.png'}",
        f"weights    {run.last_checkpoint} and {run.best_checkpoint.name}",
    ]
