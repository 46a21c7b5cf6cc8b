"""Run the checks of the claims about training on Apple silicon that this machine can run.

    python examples/check_claims.py                      # all of docs/data/claims/
    python examples/check_claims.py bf16-speed float64   # those with these names
    python examples/check_claims.py --topic memory

It prints for each claim whether what the handbook states instead `holds` or `does not hold` here, `needs a
Mac`, or has `no check`, and why. Commands and tests have 60 s each, in a process of their own. Tests run
where pytest is installed. Exit code 0: nothing is contradicted; 1: at least one does not hold; 2: wrong
usage.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import platform
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
CLAIMS = "docs/data/claims"
SECONDS = 60
HOLDS, FAILS, MAC, NONE = "holds", "does not hold", "needs a Mac", "no check"
TOO_LONG = "took more than"
SIMULATED = "tests/on_simulated_mps/"  # these run in an environment with the simulated device
NO_TEST_RAN = 5  # pytest's exit code


class Outcome(NamedTuple):
    """What became of a check: one of the four words, and the reason in one line."""

    word: str
    reason: str = ""


def read_claims(root: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield (topic, claim) for every claim. Raises ValueError where there are none to read."""
    try:
        import yaml
    except ModuleNotFoundError:
        raise ValueError("PyYAML is missing: python -m pip install pyyaml") from None
    files = sorted((root / CLAIMS).glob("*.yaml"))
    if not files:
        raise ValueError(f"no {CLAIMS} here: this program needs the whole handbook")
    for file in files:
        for claim in yaml.safe_load(file.read_text(encoding="utf-8")):
            yield file.stem, claim


def chosen(
    claims: Sequence[tuple[str, Mapping[str, Any]]], names: Sequence[str], topic: str | None
) -> list[Mapping[str, Any]]:
    """Return the claims that were asked for. Raises ValueError for what does not exist."""
    topics, known = {place for place, _ in claims}, {claim["id"] for _, claim in claims}
    if topic is not None and topic not in topics:
        raise ValueError(f"no topic {topic}; there are {', '.join(sorted(topics))}")
    if unknown := [name for name in names if name not in known]:
        raise ValueError(f"no claim {', '.join(unknown)}; the page lists them, and no name lists all here")
    return [
        claim for place, claim in claims if topic in (None, place) and (not names or claim["id"] in names)
    ]


def run_limited(
    words: Sequence[str], folder: Path, more: Mapping[str, str] | None = None, seconds: float = SECONDS
) -> tuple[int | None, str]:
    """Run a program in `folder`; return its exit code, None if it took longer, and all that it printed.

    It gets a session of its own, so that what it has started ends with it.
    """
    process = subprocess.Popen(
        words,
        cwd=folder,
        env=os.environ | (more or {}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        text=True,
        errors="replace",
    )
    try:
        output, _ = process.communicate(timeout=seconds)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        return None, ""
    finally:
        if process.returncode is None:  # it runs, or has ended and left something that keeps its output open
            with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS: nothing to end any more
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def last_line(output: str) -> str:
    """Return the last line that says something, cut to the width of a report."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1][:160] if lines else "it printed nothing"


@cache
def obstacle_on_mps() -> str:
    """Return why checks for a Mac cannot run here, or nothing where they can."""
    if (platform.system(), platform.machine()) != ("Darwin", "arm64"):
        return f"this is {platform.system()} {platform.machine()}"
    code = "import torch; print(torch.backends.mps.is_available())"
    _, output = run_limited([sys.executable, "-c", code], Path.home())
    return "" if last_line(output) == "True" else "torch.backends.mps.is_available() is not True here"


def own_python(folder: Path) -> dict[str, str]:
    """Make `python` the Python that runs this program; return the variable of the environment that does it.

    A file of this name in `folder` stands first in the search path. A link would not do, because Python finds
    the packages of its environment by the place that it is started from.
    """
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}{os.environ.get('PATH', os.defpath)}"}


def check_command(check: Mapping[str, Any], seconds: float = SECONDS) -> Outcome:
    """Run a command in an empty folder and compare what it prints with what is expected."""
    if check.get("mac") and (obstacle := obstacle_on_mps()):
        return Outcome(MAC, obstacle)
    with tempfile.TemporaryDirectory() as folder:
        places = Path(folder, "bin"), Path(folder, "empty")
        for place in places:
            place.mkdir()
        words = ["/bin/sh", "-c", check["command"]]
        code, output = run_limited(words, places[1], own_python(places[0]), seconds)
    if code is None:
        return Outcome(NONE, f"it {TOO_LONG} {seconds:g} s here")
    if missing := re.search(r"ModuleNotFoundError: No module named '?([\w.]+)", output):
        return Outcome(NONE, f"{missing[1]} is not installed here")
    if re.search(check["expect"], output, re.MULTILINE):
        return Outcome(HOLDS)
    return Outcome(FAILS, f"no {check['expect']!r} in what it printed: {last_line(output)}")


def check_test(test: str, root: Path, seconds: float = SECONDS) -> Outcome:
    """Run a test of the project with pytest, also one that is marked as slow."""
    if not (root / test.partition("::")[0]).is_file():
        return Outcome(NONE, f"{test.partition('::')[0]} is not here: it needs the whole handbook")
    python, more = sys.executable, ["-m", "not proof"]
    if test.startswith(SIMULATED):
        python = str(root / ".venv-sim" / "bin" / "python")
        more += ["-p", "simulated_mps.pytest_plugin", "--simulated-mps"]
        if not Path(python).is_file():
            return Outcome(NONE, "needs the simulated device: `make test` prepares it")
    words = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *more, test]
    code, output = run_limited(words, root, seconds=seconds)
    if code is None:
        return Outcome(NONE, f"the test {TOO_LONG} {seconds:g} s here")
    if "No module named pytest" in output:
        return Outcome(NONE, "pytest is not installed here")
    if code == 0 and re.search(r"\b\d+ passed", output):
        return Outcome(HOLDS)
    if code in (0, NO_TEST_RAN):
        return Outcome(NONE, f"the test is left out here: {last_line(output)}")
    failed = re.search(r"^(?:FAILED|ERROR) .*", output, re.MULTILINE)
    return Outcome(FAILS if code == 1 else NONE, failed[0][:160] if failed else last_line(output))


def outcome(claim: Mapping[str, Any], root: Path, seconds: float = SECONDS) -> Outcome:
    """Run the check of a claim."""
    check = claim["check"]
    if "none" in check:
        return Outcome(NONE, check["none"]["en"])
    if "test" in check:
        return check_test(check["test"], root, seconds)
    return check_command(check, seconds)


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Check what was asked for, a line for each claim; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="ID", help="names of claims, as the page shows them")
    parser.add_argument("--topic", help="only the claims of this file of docs/data/claims/")
    asked = parser.parse_args(arguments)
    try:
        claims = chosen(list(read_claims(root)), asked.names, asked.topic)
    except ValueError as error:
        parser.error(str(error))
    found: Counter[str] = Counter()
    for claim in claims:
        word, reason = outcome(claim, root)
        found[word] += 1
        reason = reason or claim["check"].get("test", "")
        print(f"{word:<14} {claim['id']}{': ' if reason else ''}{reason}", flush=True)
    print(", ".join(f"{found[word]} {word}" for word in (HOLDS, FAILS, MAC, NONE)))
    return 1 if found[FAILS] else 0


if __name__ == "__main__":
    sys.exit(main())
