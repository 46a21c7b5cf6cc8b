"""Verify what the handbook says on this machine, in at most ten minutes: checks, code, claims, trainings.

    python examples/verify_handbook.py                 # or: make verify-mac
    python examples/verify_handbook.py --plan          # what it would do, and how long that takes
    python examples/verify_handbook.py --only claims,messages
    python examples/verify_handbook.py --full          # everything, and longer: at most 67 minutes

Ctrl-C stops it, and the same command goes on where it stopped. It prints a report and writes verify-mac.json
into this folder, and runs/verify-mac/ with the report in both languages. It sends nothing anywhere. Exit code
0: the report is written, whatever was found; 1: it cannot be written; 2: wrong usage; 130: stopped.
"""

import argparse
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the folder of examples/ and snippets/
try:
    from examples.programs import imports

    imports.prepare(__file__)
except ModuleNotFoundError:
    print(f"error: {__file__} needs the whole handbook: clone it", file=sys.stderr)
    sys.exit(2)

import os

from tqdm import tqdm

from examples import verify_mac
from examples.programs.command_line import StrictParser, expanded, first_line
from examples.programs.identity import source_commit
from examples.verifying import checks, report
from examples.verifying.plan import CHECKS, PARTS, here, plan_lines, share
from examples.verifying.steps import NOT_TRIED, OUT_OF_TIME, ROOT, Place, Step
from examples.verifying.store import Store
from snippets.atomic_write import replace_file
from snippets.device import why_not_mps
from snippets.errors import RunError, UsageError, exit_with_one_line, tell
from snippets.stop_signals import terminate_like_ctrl_c

FOLDER = Path("runs/verify-mac")
SAME = ("system", "chip", "gpu_cores", "memory_gb", "macos", "virtual", "python", "variables")  # of a machine
Plan = dict[str, list[Step]]


def read_options(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return the options; `only` is the list of parts, `device` "mps" or "cpu". Raises UsageError."""
    parser = StrictParser(prog="verify_handbook.py", description=first_line(__doc__))
    add = parser.add_argument
    add("--device", choices=("auto", "mps", "cpu"), default="auto", help="auto: MPS, else the CPU")
    add("--full", action="store_true", help="all tests of claims, more blocks, longer trainings")
    add("--only", metavar="PART[,PART]", help=f"some of: {', '.join(PARTS)}")
    add("--again", action="store_true", help="start anew, whatever is finished")
    add("--language", choices=("en", "zh"), default="en", help="of the report that is printed; en")
    add("--json", type=expanded, default=Path("verify-mac.json"), metavar="FILE", help="verify-mac.json")
    add("--plan", action="store_true", help="print the plan and end")
    options = parser.parse_args(argv)
    asked = options.only.split(",") if options.only else list(PARTS)
    if unknown := [name for name in asked if name not in PARTS]:
        raise UsageError(f"--only: no part {unknown[0]!r}; there are {', '.join(PARTS)}")
    options.only = [name for name in PARTS if name in asked]
    obstacle = why_not_mps()
    if options.device == "mps" and obstacle:
        raise UsageError(f"--device mps: {obstacle}")
    if not options.plan and (why := verify_mac.why_not_written(options.json)):
        raise UsageError(f"--json {options.json}: {why}")
    if options.device == "auto" and obstacle:
        tell(f"no MPS: {obstacle}; trying on the CPU what can be tried there")
    if options.device == "auto":
        options.device = "cpu" if obstacle else "mps"
    return options


def identity(place: Place, commit: str | None) -> dict[str, Any]:
    """Return what has to be the same for finished steps to count."""
    about = verify_mac.machine()
    machine = {key: about[key] for key in SAME}
    torch = verify_mac.torch_facts()["torch"]
    return {**machine, "torch": torch, "commit": commit, "device": place.device, "full": place.full}


class Verification:
    """The parts that were asked for, and what is finished of them."""

    def __init__(self, options: argparse.Namespace, place: Place, plan: Plan, store: Store) -> None:
        self.options, self.place, self.plan, self.store = options, place, plan, store
        self.run = checks.restored(place.device, store.checks)
        self.unfinished: list[dict[str, Any]] = []  # for lack of time

    def go(self) -> None:
        """Try everything that is left; each part ends when the shares of it and those before it are over.

        With --only, the chosen parts have those of the others as well.
        """
        others = [part for part in PARTS if part not in self.options.only]
        end = time.monotonic() + sum(share(part, self.place.full) for part in others)
        if CHECKS in self.options.only:  # it shows its progress itself
            end += share(CHECKS, self.place.full)
            self.check(end - time.monotonic())
        parts = [part for part in self.options.only if part != CHECKS]
        steps = [step for part in parts for step in self.plan[part]]
        done = sum(step.key in self.store.steps for step in steps)
        with tqdm(total=len(steps), initial=done, unit="step", disable=None, leave=False) as bar:
            for part in parts:
                end += share(part, self.place.full)
                for step in self.plan[part]:
                    if step.key not in self.store.steps:
                        bar.set_description_str(step.kind)
                        self.attempt(step, end - time.monotonic())
                        bar.update()

    def check(self, seconds: float) -> None:
        """Run the checks of verify_mac.py that are left, and keep them also when Ctrl-C stops them."""
        if self.run.complete:
            return
        try:
            checks.go_on(self.run, seconds)
        finally:
            self.store.add({"checks": {"results": self.run.results, "complete": self.run.complete}})

    def attempt(self, step: Step, left: float) -> None:
        """Try a step, and keep what became of it unless only time was lacking."""
        found = report.clean(step.attempt(left))
        if found["outcome"] == NOT_TRIED and found["why"] == OUT_OF_TIME:
            self.unfinished.append(found)
        else:
            self.store.add(found)

    def write(self, commit: str | None) -> str:
        """Write all files of the report; return its text. Raises RunError."""
        keys = {step.key for steps in self.plan.values() for step in steps}
        found = [one for key, one in self.store.steps.items() if key in keys] + self.unfinished
        clean = commit[:12] if commit and not commit.endswith("-dirty") else ""
        content = report.as_json(self.run, found, len(keys), self.place.full, clean)
        texts = {language: report.as_text(content, len(keys), language) for language in report.WORDS}
        try:
            for language, text in texts.items():
                file = FOLDER / f"report.{language}.md"
                replace_file(file, lambda opened, text=text: opened.write(f"{text}\n".encode()))  # type: ignore[misc]
        except OSError as error:
            raise RunError(f"cannot write {error.filename}: {error.strerror}") from error
        told = verify_mac.write(self.options.json, content)
        if "could not" in told:
            raise RunError(told)
        told += f" {FOLDER} holds the text in both languages. Nothing was sent anywhere."
        return f"{texts[self.options.language]}\n\n{told}"


def main(argv: Sequence[str] | None = None) -> int:
    """Verify, print the report and write it; return the exit code. Raises UsageError and RunError."""
    options = read_options(argv)
    os.environ.pop(verify_mac.FALLBACK, None)  # it hides what is missing
    place = here(options.device, options.full)
    plan: Plan = {part: list(known.steps(place)) for part, known in PARTS.items()}
    print(*plan_lines(place, options.only, plan), sep="\n", flush=True)
    if options.plan:
        return 0
    commit = source_commit(ROOT)
    try:
        store = Store(FOLDER, identity(place, commit), options.again)
        store.begin()
    except OSError as error:
        raise RunError(f"cannot write {FOLDER}: {error.strerror}") from error
    if store.why_anew:
        tell(f"starting anew: {store.why_anew}")
    elif finished := len(store.steps):
        tell(f"going on: {finished} steps are finished; --again starts anew")
    verification = Verification(options, place, plan, store)
    stopped = False
    try:
        with terminate_like_ctrl_c():
            verification.go()
    except KeyboardInterrupt:
        stopped = True
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # the report takes no time
    try:
        tell(verification.write(commit))
    finally:
        signal.signal(signal.SIGINT, before)
    if stopped:
        tell("stopped; the same command goes on")
    return 128 + signal.SIGINT if stopped else 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
