"""Check the form of everything: Python and its types, shell, workflows and other settings, Chinese text.

    python -m tools.checks.lint

Prints what each linter says and one line per check; exit code 1 when one failed. A check that finds no file
to look at fails: it would otherwise stay green after its files have moved.
"""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(sys.executable).parent  # linters are installed next to Python in the environment


@dataclass(frozen=True)
class Check:
    """One linter: its command, and the files that it gets as arguments (none: it finds them itself)."""

    name: str
    command: tuple[str, ...]
    patterns: tuple[str, ...] = ()
    except_for: str = ""


@dataclass(frozen=True)
class Result:
    """What became of one check."""

    name: str
    passed: bool
    seconds: float


def schema(name: str) -> tuple[str, ...]:
    """Return the command that compares files with one of check-jsonschema's built-in schemas."""
    return ("check-jsonschema", "--quiet", "--builtin-schema", f"vendor.{name}")


SHELL = ("snippets/shell/*.sh", "examples/*.sh", "examples/*/*.sh")
WORKFLOWS = (".github/workflows/*.yml", "snippets/workflows/*.yml")
DEVICE = "tests/simulated_mps"  # a package of its own
TYPED = (f"{DEVICE}/*.py", f"{DEVICE}/simulated_mps/*.py")
ACTIONS = (f"{DEVICE}/action.yml",)
FORMS = ".github/ISSUE_TEMPLATE"
CHECKS = (
    Check("ruff check", ("ruff", "check", "--quiet", ".")),
    Check("ruff format", ("ruff", "format", "--check", "--quiet", ".")),
    Check("types", ("mypy", "--no-error-summary")),
    Check(
        "types of the device", ("mypy", "--no-error-summary", f"--config-file={DEVICE}/pyproject.toml"), TYPED
    ),
    # Style notes stay on: they catch what bash 3.2 on Macs does differently.
    Check("shellcheck", ("shellcheck",), ("tools/*.sh", ".ci/run")),
    Check("shellcheck of snippets", ("shellcheck", "--shell=bash"), SHELL),
    Check("workflows", schema("github-workflows"), WORKFLOWS),
    Check("actions", schema("github-actions"), ACTIONS),
    Check("security of workflows", ("zizmor", "--offline", "--quiet", "--no-progress"), WORKFLOWS + ACTIONS),
    Check("issue forms", schema("github-issue-forms"), (f"{FORMS}/*.yml",), except_for="config.yml"),
    Check("issue page", schema("github-issue-config"), (f"{FORMS}/config.yml",)),
    Check("dependabot", schema("dependabot"), (".github/dependabot.yml",)),
    Check("citation", schema("citation-file-format"), ("CITATION.cff",)),
    Check("entries of data", (sys.executable, "-m", "tools.checks.data_entries")),
    Check("limits of readers", (sys.executable, "-m", "tools.checks.foreign_reads")),
    Check("Chinese typography", (sys.executable, "-m", "tools.checks.typography")),
)


def run(check: Check, root: Path = ROOT) -> Result:
    """Run one check and print its line after what the linter printed."""
    started = time.perf_counter()
    found = sorted(path for pattern in check.patterns for path in root.glob(pattern))
    files = [path.relative_to(root).as_posix() for path in found if path.name != check.except_for]
    if check.patterns and not files:
        print(f"no file matches {', '.join(check.patterns)}")
        passed = False
    else:
        program = (
            Path(check.command[0]) if Path(check.command[0]).is_absolute() else PROGRAMS / check.command[0]
        )
        command = [str(program), *check.command[1:], *files]
        passed = subprocess.run(command, cwd=root, check=False).returncode == 0
    seconds = time.perf_counter() - started
    number = f" ({len(files)} files)" if files else ""
    print(f"{'passed' if passed else 'FAILED'}  {check.name}{number}", flush=True)
    return Result(check.name, passed, seconds)


def main() -> int:
    """Run all checks; return the exit code."""
    results = [run(check) for check in CHECKS]
    failed = [result.name for result in results if not result.passed]
    print(f"{len(results) - len(failed)} checks passed, {len(failed)} failed: {', '.join(failed) or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
