"""A training program from its command line to its exit code, the same for every system."""

import contextlib
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tqdm import tqdm

from snippets.checkpoints import TrainingState, alike, load_checkpoint, load_newest
from snippets.framework.device_failures import explained_failures
from snippets.framework.errors import RunError, UsageError
from snippets.framework.provenance import provenance
from snippets.framework.resume import RunChoice, check_same_options, choose_run
from snippets.framework.run_folder import RunFolder, new_folder
from snippets.framework.run_report import Report
from snippets.framework.spelling import FLAGS, Spelling
from snippets.framework.training_options import (
    TrainingOptions,
    check_saved,
    options_to_continue,
    same_run,
    saved_options,
    with_precision,
)
from snippets.memory import is_out_of_memory
from snippets.stop_signals import StopSignals
from snippets.training_loop import Task, Training, new_progress


@dataclass(frozen=True)
class Program:
    """A training program: its name and the steps in which its systems differ."""

    system: str  # as the registry names it (examples/systems.py): of several programs, system/program
    read_command_line: Callable[[Sequence[str] | None], dict[str, Any]]
    resolve: Callable[[dict[str, Any]], TrainingOptions]  # typed options → all options
    build: Callable[[TrainingOptions], Task]  # nothing is written yet
    report: Report
    size_options: tuple[str, ...]  # what to lower when memory runs out
    training: type[Training] = Training  # the loop
    spelling: Spelling = FLAGS

    def prepare(self, typed: dict[str, Any]) -> Task:
        """Return a task with the typed options, ready to learn; nothing is written. Raises UsageError."""
        return self.build(self.resolve(typed))

    def main(self, argv: Sequence[str] | None = None) -> int:
        """Train as the command line says and return the exit code. Raises UsageError and RunError."""
        try:
            return run_program(self, argv)
        except (UsageError, RunError) as error:
            error.args = (self.spelling.message(str(error)),)
            raise


def choose(program: Program, typed: dict[str, Any]) -> tuple[RunChoice, TrainingOptions]:
    """Return whether a run begins or continues, and its options. Raises UsageError."""
    fresh = program.resolve(typed)

    def matches(config: dict[str, Any]) -> bool:  # only --resume auto looks for the format of "auto"
        return same_run(with_precision(fresh), config)

    choice = choose_run(program.system, typed.get("out"), typed.get("resume"), matches)
    if choice.config is None:
        return choice, fresh
    source = choice.folder / "config.json"
    check_saved(choice.config, program.read_command_line, type(fresh), source, program.spelling)
    return choice, options_to_continue(choice.config, typed, program.resolve, choice.folder)


def find_checkpoint(system: str, choice: RunChoice) -> tuple[dict[str, Any] | None, str | None]:
    """Return the checkpoint to continue from, and what to tell the user; None for both where there is none.

    Raises UsageError when it cannot be read or is of another system.
    """
    if choice.checkpoint is not None:
        return load_checkpoint(choice.checkpoint, system), None
    folder = choice.folder / "checkpoints"
    if not any((folder / name).exists() for name in ("last.pt", "previous.pt")):
        return None, None  # it was killed before its first checkpoint, or somebody removed them
    content, _, note = load_newest(folder, system)
    return content, note


def configuration(program: Program, options: TrainingOptions, task: Task) -> dict[str, Any]:
    """Return what config.json says of a run."""
    return {
        "system": program.system,
        "options": asdict(options) | {"precision": task.precision.name},
        **task.facts,
        "steps_per_epoch": task.steps_per_epoch,
        "total_steps": task.total_steps,
        "provenance": provenance(),
    }


def begin(
    program: Program, folder: Path | None, options: TrainingOptions
) -> tuple[Task, RunFolder, dict[str, Any]]:
    """Check all that can be wrong, then make the folder of a new run. Raises UsageError before that."""
    task = program.build(options)
    config = configuration(program, options, task)
    run = RunFolder(new_folder(folder, program.system))
    run.write_config(config)
    return task, run, config


def go_on(program: Program, choice: RunChoice, options: TrainingOptions, run: RunFolder) -> Task:
    """Return the task as the run left it. `run` is locked, so that what is read here is the newest.

    Raises UsageError, before anything is changed.
    """
    checkpoint, note = find_checkpoint(program.system, choice)
    task = program.build(options)
    if choice.config.get("data_crc32") != task.facts.get("data_crc32"):
        raise UsageError(f"the content of --data {options.data} is not what {choice.folder} began with")
    if checkpoint is None:
        run.set_aside_what_has_no_checkpoint()
    else:
        restore(task.state, checkpoint)
        check_same_options(saved_options(checkpoint["config"]), options.decisive(), choice.folder)
    if note:
        run.say(note)
    run.forget_metrics_after(task.state.step)
    return task


def restore(state: TrainingState, checkpoint: dict[str, Any]) -> None:
    """Let `state` be that of the checkpoint. Raises UsageError when it is none, whatever it is instead."""
    try:
        own, saved = new_progress(), checkpoint["progress"]
        if not alike(own, saved) or own.keys() - saved.keys() or saved["steps"] < 0:
            raise ValueError("its progress is none")
        if not isinstance(checkpoint["config"]["options"], dict):
            raise ValueError("its options are none")
        state.restore(checkpoint)
    except Exception as error:  # PyTorch takes the state apart; a strange one can raise anything
        if isinstance(error, UsageError) or is_out_of_memory(error):
            raise
        what = str(error).partition("\n")[0]
        raise UsageError(
            f"the checkpoint holds no state of this training ({what}); name another one with "
            "--resume, or start a new run with another --out"
        ) from error


def run_to_end(program: Program, training: Training, stop: StopSignals) -> int:
    """Train, then conclude or say how to go on. Return the exit code."""
    task, run, state, report = training.task, training.run, training.state, program.report
    for line in report.describe(task, training.config):
        run.say(line)
    run.say(f"run        {run.path}")
    if state.step:
        run.say(f"continuing after step {state.step:,} of {task.total_steps:,}")
    facts = {"device": str(state.device), "precision": task.precision.name}
    run.beat("running", step=state.step, total_steps=task.total_steps, **facts)
    run.say(report.HEADER)
    on_terminal = {"disable": None, "leave": False, "file": sys.stdout}  # elsewhere: no bar, only lines
    with tqdm(total=task.total_steps, initial=state.step, unit="step", **on_terminal) as bar:
        training.train(stop, bar)
    if state.step < task.total_steps:
        run.beat("interrupted")
        done = f"{state.step:,} of {task.total_steps:,}"
        again = shlex.join(["python", sys.argv[0], *program.spelling.resume(str(run.path))])
        run.say(f"stopped by {stop.received.name} after step {done}; to go on: {again}")
        return 128 + stop.received
    last_lines = report.conclude(task, run)
    run.beat("finished", step=state.step, eta_s=0.0)
    for line in last_lines:
        run.say(line)
    return 0


def run_program(program: Program, argv: Sequence[str] | None) -> int:
    """Train as the command line says and return the exit code. Raises UsageError and RunError."""
    typed = program.read_command_line(argv)
    with StopSignals() as stop:
        choice, options = choose(program, typed)
        if choice.note:
            print(choice.note)
        finished = f"{choice.folder} is finished; see {choice.folder}/summary.json"
        if choice.finished:
            print(finished)
            return 0
        with (
            explained_failures(f"out of memory; lower {what_to_lower(program, options)}"),
            contextlib.ExitStack() as opened,
        ):
            if choice.config is None:
                task, run, config = begin(program, choice.folder, options)
                opened.enter_context(run)
            else:
                run = opened.enter_context(RunFolder(choice.folder))
                if choice.finished:  # while this process waited for its turn
                    print(finished)
                    return 0
                task = go_on(program, choice, options, run)
                config = configuration(program, options, task)
            advice = f"try a lower --lr (it was {options.lr:g})"
            return run_to_end(program, program.training(task, run, config, advice), stop)


def what_to_lower(program: Program, options: TrainingOptions) -> str:
    """Return the options that decide how much memory a run needs, with their values."""
    names = [f"--{name.replace('_', '-')} (it is {getattr(options, name)})" for name in program.size_options]
    return " or ".join(names)
