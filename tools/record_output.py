"""Record what commands print, for the pages.

    python -m tools.record_output [NAME ...]      (`make record`) run the commands again, store their output

tools/recordings.py says what describes a recording. Nobody edits the text by hand: the tests run the commands
again and compare (tests/site/test_recorded_output.py). Numbers that this comparison masks have no other guard
than git: a change to the text without a new `date` beside it was made by hand.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tools.checks.coverage_data import SIMULATED_MPS, SIMULATED_PYTHON, this_machine
from tools.drawing import draw
from tools.recordings import FOLDER, note, read_recordings
from tools.working_copy import environment, working_copy

ROOT = Path(__file__).resolve().parents[1]
SHOWN_FOLDER = "~/mps-handbook"  # stands in recordings for the folder of whoever recorded
TIMEOUT = 280  # seconds
LONG_TIMEOUT = 900  # of commands that the tests do not run

# Gives what a system printed when it was trained without any option, and its run folder.
Trained = Callable[[str], tuple[str, Path]]
_DEFAULT_TRAINING = re.compile(r"python examples/(?P<system>\w+)/train\.py(?: --out (?P<out>\S+))?")


class RecordingFailed(RuntimeError):
    """A recorded command ended with an error, or printed nothing."""


def machine_traits() -> set[str]:
    """Return what this machine is, of the words that `needs` may use (tools.recordings.TRAITS)."""
    system = {"Linux": "linux", "Darwin": "macos"}.get(platform.system(), "")
    processor = {"x86_64": "x86-64", "aarch64": "arm64", "arm64": "arm64"}.get(platform.machine(), "")
    simulated = SIMULATED_MPS if (ROOT / SIMULATED_PYTHON).exists() else ""
    return {system, processor, this_machine()[0], simulated} - {""}


def python_of(entry: dict) -> Path:
    """Return the Python for an entry: the one with the simulated MPS device where the entry needs that."""
    return ROOT / SIMULATED_PYTHON if SIMULATED_MPS in entry.get("needs", []) else Path(sys.executable)


def versions_of(python: Path) -> dict[str, str]:
    """Return the versions that a recording names."""
    if python == Path(sys.executable):
        return this_machine()[1]
    code = "import platform, torch; print(platform.python_version(), torch.__version__)"
    answer = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    return {"python": answer[0].rpartition(".")[0], "torch": answer[1]}


def run(entry: dict, root: Path, keep_in: Path | None = None, trained: Trained | None = None) -> str:
    """Run an entry's command in a throw-away working copy and return what it printed.

    With `keep_in`, files that the entry keeps are copied there. With `trained`, trainings without options are
    not made again. On the simulated device, stderr is kept as well: its report stands there. Raises
    RecordingFailed when the command ends with another exit code than expected, prints nothing, or does not
    write a file that is to be kept.
    """
    python, commands = python_of(entry), [*entry.get("before", []), entry["command"]]
    codes = [0] * (len(commands) - 1) + [entry.get("exit_code", 0)]
    with working_copy(root) as folder:
        for command, code in zip(commands, codes, strict=True):
            default = _DEFAULT_TRAINING.fullmatch(command)
            if default and trained:
                printed, made = trained(default["system"])
                shutil.copytree(made, folder / (default["out"] or f"runs/{default['system']}/{made.name}"))
                continue
            done = subprocess.run(
                ["bash", "-c", command],
                cwd=folder,
                env=environment(python.parent),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT if SIMULATED_MPS in entry.get("needs", []) else subprocess.PIPE,
                text=True,
                timeout=LONG_TIMEOUT if "repeat" in entry else TIMEOUT,
                check=False,
            )
            if done.returncode != code or not done.stdout.strip():
                said = (done.stderr or done.stdout).strip() or "it printed nothing"
                raise RecordingFailed(f"{entry['name']}: exit code {done.returncode}: {said}")
            printed = done.stdout
        for written, stored in entry.get("keep", {}).items():
            found = sorted((folder / "runs").rglob(written))
            if len(found) != 1:
                raise RecordingFailed(
                    f"{entry['name']}: expected one {written} in its run folder, found {len(found)}"
                )
            if keep_in:
                shutil.copyfile(found[0], keep_in / stored)
        return tidy(printed, [folder, root])


def tidy(text: str, folders: list[Path]) -> str:
    """Return output as a page shows it: no trailing blanks, nobody's own folders.

    Folders of a working copy are links, and the simulated device names the files behind them. Its places are
    shown as if there were no links.
    """
    for folder in folders:
        for name in {str(folder), str(folder.resolve())}:
            text = text.replace(name, SHOWN_FOLDER)
    text = re.sub(rf"^ {{6}}{re.escape(SHOWN_FOLDER)}/(?=\S+:\d+)", " " * 6, text, flags=re.MULTILINE)
    text = text.replace(str(Path.home()), "~") if str(Path.home()) != "/" else text
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines()) + "\n"


def repeated(entry: dict) -> dict:
    """Return the entry with the command that the tests run."""
    return {name: value for name, value in entry.items() if name != "repeat"} | {
        "command": entry.get("repeat", entry["command"])
    }


def record(names: list[str], root: Path = ROOT) -> None:
    """Run the named entries (none: all) and store their output. Raises ValueError for an unknown name."""
    entries = read_recordings(root)
    unknown = set(names) - entries.keys()
    if unknown:
        known = ", ".join(entries)
        raise ValueError(f"no recording is named {', '.join(sorted(unknown))}; choose from: {known}")
    machine: dict[str, object] = {
        "system": f"{platform.system()} {platform.machine()}".replace("x86_64", "x86-64")
    }
    machine["cpu_cores"] = os.cpu_count()
    for name in names or entries:
        entry = entries[name]
        missing = set(entry.get("needs", [])) - machine_traits()
        if missing:
            print(f"left as it is: {name} needs {', '.join(sorted(missing))}")
            continue
        text = run(entry, root, keep_in=root / FOLDER)
        (root / FOLDER / f"{name}.txt").write_text(text, encoding="utf-8")
        for picture in draw.showing({f"recorded/{kept}" for kept in entry.get("keep", {}).values()}):
            draw.write(picture)
        today = datetime.date.today().isoformat()
        note(root, name, today, machine | {"versions": versions_of(python_of(entry))})
        print(f"recorded {name}: {len(text.splitlines())} lines")


def main() -> int:
    """Record from the command line; return the exit code."""
    parser = argparse.ArgumentParser(description="Record what commands print.", allow_abbrev=False)
    parser.add_argument("names", nargs="*", metavar="NAME", help="recordings to renew (default: all)")
    arguments = parser.parse_args()
    try:
        record(arguments.names)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except (RecordingFailed, subprocess.TimeoutExpired) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
