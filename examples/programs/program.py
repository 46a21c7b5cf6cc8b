"""A training program from command line to exit code, the same for every system."""

import contextlib
import logging
import shlex
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import torch
from torch import nn
from torch.utils.data import Dataset, TensorDataset
from tqdm import tqdm

from examples.programs.command_line import FLAGS, Spelling
from examples.programs.failures import explained_failures, explanation
from examples.programs.options import (
    TrainingOptions,
    check_same_options,
    check_saved,
    options_to_continue,
    same_run,
    saved_options,
    with_precision,
)
from examples.programs.report import Report, provenance
from examples.programs.resume import RunChoice, choose_run
from examples.programs.run_folder import RunFolder, UnwrittenRun, new_folder
from examples.programs.speed import is_on, set_speed
from snippets.checkpoints import alike, load_checkpoint, load_newest
from snippets.compile_safely import Network, compile_or_eager
from snippets.data_loading import EpochLoader
from snippets.data_on_device import ResidentBatches
from snippets.device import is_mps, pick_device
from snippets.errors import Option, RunError, UsageError, tell
from snippets.memory import is_out_of_memory
from snippets.precision import Precision, pick_precision
from snippets.processes import (
    alone,
    check_alike,
    count,
    first_then_others,
    from_first,
    joined,
    own_device,
    own_size,
    rank,
)
from snippets.stop_signals import StopSignals
from snippets.training_loop import Task, Training, new_progress
from snippets.watermarks import check_watermarks

Options = TypeVar("Options", bound=TrainingOptions)
TaskType = TypeVar("TaskType", bound=Task)
ANOTHER = "; name another one with ", Option("resume"), ", or start a new run with another ", Option("out")


@dataclass(frozen=True)
class Program(Generic[Options, TaskType]):
    """A training program: its name and the functions in which systems differ."""

    system: str  # its name in examples/systems.py: of several programs, system/program
    read_command_line: Callable[[Sequence[str] | None], dict[str, Any]]
    resolve: Callable[[dict[str, Any]], Options]  # typed options → all options
    build: Callable[[Options], TaskType]  # writes no files
    report: Report[TaskType]
    size_options: tuple[str, ...]  # lower them when memory runs out
    training: Callable[..., Training] = Training  # the loop
    spelling: Spelling = FLAGS

    def prepare(self, typed: dict[str, Any]) -> TaskType:
        """Return a task with the typed options, ready to train, without writing files. Raises UsageError."""
        with self.spelled_errors():
            return self.build(self.resolve(typed))

    def main(self, argv: Sequence[str] | None = None) -> int:
        """Train as the command line says and return the exit code. Raises UsageError and RunError."""
        with StopSignals() as stop, joined(), self.spelled_errors():
            return run_program(self, argv, stop)

    @contextlib.contextmanager
    def spelled_errors(self) -> Iterator[None]:
        """Inside the block, make errors spell options as this program does."""
        try:
            yield
        except (UsageError, RunError) as error:
            spelt = self.spelling.option
            error.args = tuple(spelt(part) if isinstance(part, Option) else part for part in error.args)
            raise


def choose(program: Program, typed: dict[str, Any]) -> tuple[RunChoice, TrainingOptions]:
    """Return the run to start or continue, and its options. Raises UsageError."""
    fresh = program.resolve(typed)

    def matches(config: dict[str, Any]) -> bool:  # only --resume auto resolves precision "auto"
        return same_run(with_precision(fresh), config)

    choice = choose_run(program.system, typed.get("out"), typed.get("resume"), matches)
    if choice.config is None or choice.folder is None:
        return choice, fresh
    source = choice.folder / "config.json"
    check_saved(choice.config, program.read_command_line, type(fresh), source, program.spelling)
    return choice, options_to_continue(choice.config, typed, program.resolve, choice.folder)


def find_checkpoint(
    system: str, folder: Path, named: Path | None
) -> tuple[dict[str, Any] | None, str | None]:
    """Return the checkpoint from which to continue the run in `folder`, and a note for the user.

    `named` is the checkpoint that the user chose. Both are None when there is no checkpoint. Raises
    UsageError when it cannot be read or belongs to another system.
    """
    if named is not None:
        return load_checkpoint(named, system), None
    folder = folder / "checkpoints"
    if not any((folder / name).exists() for name in ("last.pt", "previous.pt")):
        return None, None  # the run was killed before its first checkpoint, or they were removed
    content, _, note = load_newest(folder, system)
    return content, note


def configuration(program: Program, options: TrainingOptions, task: Task) -> dict[str, Any]:
    """Return the content of config.json."""
    return {
        "system": program.system,
        "options": asdict(options) | {"precision": task.precision.name},
        **task.facts,
        "steps_per_epoch": task.steps_per_epoch,
        "total_steps": task.total_steps,
        "provenance": provenance(),
    }


def start_run(
    program: Program, folder: Path | None, options: TrainingOptions
) -> tuple[Task, RunFolder, dict[str, Any]]:
    """Check options and data, then make the folder of a new run. Raises UsageError before that."""
    task = program.build(options)
    config = configuration(program, options, task)
    run = RunFolder(new_folder(folder, program.system))
    run.write_config(config)
    return task, run, config


def continue_run(program: Program, choice: RunChoice, options: TrainingOptions, run: RunFolder) -> Task:
    """Return the task with the state of the newest checkpoint. `run` is locked, so no process adds another.

    Raises UsageError before any file is changed.
    """
    checkpoint, note = find_checkpoint(program.system, run.path, choice.checkpoint)
    task = program.build(options)
    if (choice.config or {}).get("data_crc32") != task.facts.get("data_crc32"):
        data = Option("data", options.data)
        raise UsageError("the content of ", data, f" is not what {run.path} began with")
    if checkpoint is None:
        run.archive_unsaved_run()
    else:
        restore(task, checkpoint)
        check_same_options(saved_options(checkpoint["config"]), options.decisive(), run.path)
    if note:
        run.say(note)
    run.forget_metrics_after(task.state.step)
    return task


def assist(program: Program, choice: RunChoice, options: TrainingOptions) -> Task:
    """Return the task in a process that is not the first, in the state from which the first one goes on.

    Raises UsageError when this process does not see the run folder.
    """
    task = program.build(options)
    if choice.config is not None and choice.folder is not None:
        if not (choice.folder / "config.json").exists():
            raise UsageError(
                f"process {rank()} on {socket.gethostname()} does not see the run folder {choice.folder}; "
                "all processes need it, on a disk that they share"
            )
        checkpoint, _ = find_checkpoint(program.system, choice.folder, choice.checkpoint)
        if checkpoint is not None:
            restore(task, checkpoint)
    return task


def restore(task: Task, checkpoint: dict[str, Any]) -> None:
    """Restore the task's state from a checkpoint. Raises UsageError when it does not fit this training."""
    try:
        check_progress(task, checkpoint["step"], checkpoint["progress"])
        if not isinstance(checkpoint["config"]["options"], dict):
            raise ValueError("its options are none")
        task.state.restore(checkpoint)
    except Exception as error:  # PyTorch can raise any error for a malformed state
        if isinstance(error, UsageError) or is_out_of_memory(error):
            raise
        what = str(error).partition("\n")[0]
        raise UsageError(
            f"the checkpoint holds no state of this training ({what})",
            *ANOTHER,
        ) from error


def check_progress(task: Task, step: int, saved: dict[str, Any]) -> None:
    """Raise ValueError when `saved` is not progress after `step` steps; malformed data raise other errors."""
    if not 0 < step <= task.total_steps:
        raise ValueError(f"step {step} of {task.total_steps}")
    own, in_epoch = new_progress(), 0 if step == task.total_steps else step % task.steps_per_epoch
    if not alike(own, saved) or own.keys() - saved.keys():
        raise ValueError("its progress is none")
    if saved["steps"] != in_epoch or bool(saved["sums"]) != bool(in_epoch):
        raise ValueError("its sums are not of this epoch")
    task.check(saved)


@contextlib.contextmanager
def errors_after_restore(training: Training) -> Iterator[None]:
    """Inside the block, turn unexpected errors before the first loss of a restored state into RunError.

    The state may be malformed in parts that PyTorch uses only in the first step.
    """
    resumed = training.state.step > 0
    try:
        yield
    except (UsageError, RunError, OSError):
        raise
    except Exception as error:
        if not resumed or training.has_reported or explanation(error, "") is not None:
            raise
        what = f"{type(error).__name__}: {error}".partition("\n")[0]
        raise RunError(
            f"the checkpoint holds a state that cannot be trained on ({what})",
            *ANOTHER,
        ) from error


def run_to_end(program: Program, training: Training, run: RunFolder | UnwrittenRun, stop: StopSignals) -> int:
    """Train, then write the results or print how to continue. Return the exit code."""
    task, state, report = training.task, training.state, program.report
    for line in report.describe(task, training.config):
        run.say(line)
    run.say(f"run        {run.path}")
    if state.step:
        run.say(f"continuing after step {state.step:,} of {task.total_steps:,}")
    facts = {"device": str(state.device), "precision": task.precision.name}
    run.beat("running", step=state.step, total_steps=task.total_steps, **facts)
    run.say(report.HEADER)
    on_terminal = {"disable": None, "leave": False, "file": sys.stdout}  # elsewhere, it prints no bar
    bar = tqdm(total=task.total_steps, initial=state.step, unit="step", **on_terminal)
    with errors_after_restore(training), bar:
        training.train(stop, bar)
        last_lines = []
        if state.step >= task.total_steps and isinstance(run, RunFolder):
            last_lines = report.conclude(task, run)
    if state.step < task.total_steps:
        assert stop.received is not None  # only a signal ends a training before its last step
        run.beat("interrupted")
        done = f"{state.step:,} of {task.total_steps:,}"
        start = ["torchrun", "--nproc-per-node", str(count())] if count() > 1 else ["python"]
        again = shlex.join([*start, sys.argv[0], *program.spelling.resume(str(run.path))])
        run.say(f"stopped by {stop.received.name} after step {done}; to go on: {again}")
        return 128 + stop.received
    run.beat("finished", step=state.step, eta_s=0.0)
    for line in last_lines:
        run.say(line)
    return 0


def run_program(program: Program, argv: Sequence[str] | None, stop: StopSignals) -> int:
    """Train as the command line says and return the exit code. Raises UsageError and RunError."""
    typed = program.read_command_line(argv)
    with explained_failures("out of memory"):
        check_alike("the command line", typed)
        choice, options = from_first(lambda: choose(program, typed))
    if choice.note:
        tell(choice.note)
    with (
        contextlib.ExitStack() as opened,
        explained_failures(f"out of memory; lower {size_settings(program, options)}"),
    ):
        opening = first_then_others(lambda: open_run(program, choice, options, opened))
        if from_first(lambda: opening is None) or opening is None:  # only the first one knows
            tell(f"{choice.folder} is finished; see {choice.folder}/summary.json")
            return 0
        task, own, config = opening
        check_alike("the data", task.facts.get("data_crc32"))
        check_alike("the last step in the checkpoint", task.state.step)
        # any process may name the last checkpoint in an error
        folder = from_first(lambda: own.path if own else Path())
        run = own or UnwrittenRun(folder)
        advice = f"try a lower {program.spelling.option(Option('lr'))} (it was {options.lr:g})"
        return run_to_end(program, program.training(task, run, config, advice), run, stop)


def open_run(
    program: Program, choice: RunChoice, options: TrainingOptions, opened: contextlib.ExitStack
) -> tuple[Task, RunFolder | None, dict[str, Any]] | None:
    """Return task, run and config.json, or None when the run is finished. `opened` closes the run.

    Only the first process has a run. Raises UsageError.
    """
    if rank() > 0:
        task = assist(program, choice, options)
        return task, None, configuration(program, options, task)
    if choice.finished:
        return None
    if choice.config is None or choice.folder is None:
        task, run, config = start_run(program, choice.folder, options)
        opened.enter_context(run)
        return task, run, config
    run = opened.enter_context(RunFolder(choice.folder))
    if choice.finished:  # while this process waited for the lock
        return None
    task = continue_run(program, choice, options, run)
    return task, run, configuration(program, options, task)


def size_settings(program: Program, options: TrainingOptions) -> str:
    """Return the options that decide the memory of a run, with their values."""
    names = {name: program.spelling.option(Option(name)) for name in program.size_options}
    return " or ".join(f"{spelt} (it is {getattr(options, name)})" for name, spelt in names.items())


class Compute(NamedTuple):
    """Device and precision of a training; `facts` describe both with the reasons, for config.json."""

    device: torch.device
    precision: Precision
    facts: dict[str, Any]


class Steps(NamedTuple):
    """Samples per step, steps per epoch, and steps of the whole run."""

    samples_per_step: int
    steps_per_epoch: int
    total_steps: int


def open_device(options: TrainingOptions) -> Compute:
    """Return device and precision of a training. Raises UsageError when they cannot be used."""
    check_shares(options)
    device, reason = own_device(*pick_device(options.device), options.device)
    if is_mps(device):
        check_watermarks()
    precision = pick_precision(options.precision, device)
    facts = {"device": f"{device} ({reason})", "precision": f"{precision.name} ({precision.reason})"}
    facts |= set_speed(options, precision.name, device)
    if count() > 1:
        facts["processes"] = f"{count()}, {own_size(options.batch_size)} of {options.batch_size} samples each"
    return Compute(device, precision, facts)


def check_shares(options: TrainingOptions) -> None:
    """Raise UsageError unless the processes can share each microbatch evenly."""
    if options.batch_size % count():
        next_size = Option("batch_size", (options.batch_size // count() + 1) * count())
        size = Option("batch_size", options.batch_size)
        raise UsageError(size, f" cannot be shared evenly by {count()} processes; use ", next_size)


def plan_steps(options: TrainingOptions, samples: int) -> Steps:
    """Return the number of steps for `samples` samples, without an incomplete last step of an epoch."""
    samples_per_step = options.batch_size * options.accumulate
    steps_per_epoch = samples // samples_per_step
    total_steps = min(options.epochs * steps_per_epoch, options.max_steps or sys.maxsize)
    return Steps(samples_per_step, steps_per_epoch, total_steps)


def check_batch_size(options: TrainingOptions, samples: int, what: str) -> None:
    """Raise UsageError when a step needs more than `samples` samples; `what` names them."""
    if options.batch_size * options.accumulate > samples:
        times = (" × ", Option("accumulate", options.accumulate)) if options.accumulate > 1 else ()
        size = Option("batch_size", options.batch_size)
        largest = Option("batch_size", samples // options.accumulate)
        cure = ("; at most ", largest) if largest.value else ()
        raise UsageError(size, *times, f": there are only {samples} {what}", *cure)


def batch_source(
    options: TrainingOptions,
    device: torch.device,
    columns: Sequence[torch.Tensor],
    rows: Dataset | None = None,
) -> ResidentBatches | EpochLoader:
    """Return the source of the batches on `device`, one batch per step.

    Without workers, all `columns` (tensors with one entry per sample, such as images) are kept on the device.
    Workers read `rows`, by default those of `columns`.
    """
    parts, size = options.accumulate, options.batch_size * options.accumulate
    if not options.workers:
        return ResidentBatches([column.to(device) for column in columns], size, options.seed, parts)
    rows = TensorDataset(*columns) if rows is None else rows
    return EpochLoader(rows, size, options.seed, workers=options.workers, device=device, parts=parts)


def compiled(task: Task, module: nn.Module, batch: Any) -> Network:
    """Return `module`, compiled if that is requested and gives the same loss and gradients on `batch`.

    Records in the facts of the task whether it was compiled, and why not.
    """
    if not task.options.compile:
        return module
    print("compiling and comparing with the uncompiled network: a minute or several", flush=True)
    # With a CUDA toolkit but no GPU, importing the compiler would log a warning before the report begins.
    logging.getLogger("torch.utils.cpp_extension").setLevel(logging.ERROR)

    def loss(network: Network) -> torch.Tensor:
        part, _ = next(iter(task.parts(batch)))
        return task.measures(part, network)[0]

    with alone():  # the first process compiles before the others
        graphs = is_on(task.options, "graphs", next(module.parameters()).device)
        network, task.facts["compile"] = compile_or_eager(module, loss, cuda_graphs=graphs)
    return network
