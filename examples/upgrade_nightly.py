"""Replace PyTorch in this environment by the newest nightly build, with a way back.

Copy this file anywhere: it needs no other file, and not even PyTorch.

    python upgrade_nightly.py             # shows what would change, then asks
    python upgrade_nightly.py --dry-run   # only shows it
    python upgrade_nightly.py --restore   # back to the versions before the last upgrade

The present versions are first saved in the folder pytorch-before-nightly of the environment. A nightly that
cannot be imported is removed again. Exit code 0: done, or nothing to do; 1: it failed, and the earlier
versions are restored, or the last line says how to restore them; 2: wrong usage.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from datetime import datetime
from pathlib import Path

NIGHTLY = "https://download.pytorch.org/whl/nightly"
STABLE = "https://download.pytorch.org/whl"  # has the builds with a label such as +cpu, which PyPI lacks
PACKAGES = ("torch", "torchvision", "torchaudio")
NEEDED = ("torch", "torchvision")  # installed together, because their compiled parts must match


class Problem(Exception):
    """An error that ends the program with one line; `code` is the exit code."""

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.code = code


def installed_version(package: str) -> str | None:
    """Return the version of a package in this environment, or None when it is not installed."""
    importlib.invalidate_caches()
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def build_label() -> str:
    """Return the build label of the installed PyTorch, such as cu132; empty on Macs and without PyTorch.

    It is read from PyTorch's version file, because package versions from PyPI have no label.
    """
    if installed_version("torch") is None:
        return ""
    file = Path(str(importlib.metadata.distribution("torch").locate_file("torch/version.py")))
    found = re.search(r"__version__ = '[^'+]+\+([^']+)'", file.read_text() if file.exists() else "")
    return found.group(1) if found else ""


def index_for_this_machine() -> str:
    """Return the address of the nightly index for the label of the installed PyTorch, else for `cpu`.

    `cpu` also has the wheels for Macs, which contain MPS; there is no index named mps.
    """
    label = build_label()
    return f"{NIGHTLY}/{label if re.fullmatch(r'(cu|rocm|xpu)[0-9.]*', label) else 'cpu'}"


def installer() -> list[str]:
    """Return the command that installs packages here: pip, or uv where there is no pip. Raises Problem."""
    if sys.prefix == sys.base_prefix:
        raise Problem(
            "this Python is not in a virtual environment, and other programs may need its PyTorch; "
            "make one: python3 -m venv nightly && source nightly/bin/activate",
            code=2,
        )
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]
    if uv := shutil.which("uv"):
        return [uv, "pip", "install", "--python", sys.executable]
    raise Problem("this environment has neither pip nor uv; run: python -m ensurepip", code=2)


def run(command: list[str], action: str) -> str:
    """Run a command and return its output. Raises Problem with its last line of output."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip() or "it said nothing").splitlines()
        errors = [line for line in said if line.lower().startswith("error")]
        raise Problem(f"{action} failed: {(errors or said)[-1].strip()}")
    return done.stdout + done.stderr


def find_newest(install: list[str], index: str) -> dict[str, str]:
    """Return the versions of the PyTorch packages that an upgrade would install; nothing is installed.

    Raises Problem when there is no nightly for this Python and system, or the index cannot be reached.
    """
    wanted = [name for name in PACKAGES if name in NEEDED or installed_version(name)]
    command = [*install, "--dry-run", "--pre", "--upgrade", *wanted, "--index-url", index]
    by_pip = "-m" in install
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        if by_pip:  # when it cannot reach the index, it takes the installed version for the newest
            command += ["--ignore-installed", "--report", str(report)]
        try:
            printed = run(command, "looking for a nightly")
        except Problem as problem:  # pip prints the same for an address that it cannot reach
            python = f"Python {sys.version_info.major}.{sys.version_info.minor}"
            hint = f"open {index}/torch/ in a browser: has it a wheel for {python} and this system?"
            raise Problem(f"{problem}; {hint}") from None
        if by_pip:
            found = [item["metadata"] for item in json.loads(report.read_text(encoding="utf-8"))["install"]]
            planned = {item["name"].lower(): item["version"] for item in found}
        else:  # uv prints a line " + name==version" for each
            planned = dict(re.findall(r"^ ?\+ ([\w.-]+)==(\S+)", printed, re.MULTILINE))
    newest = {name: planned[name] for name in wanted if name in planned}
    for name, version in newest.items():
        if ".dev" not in version:
            raise Problem(f"{index} has no nightly of {name} for this Python and system, only {version}")
    return newest


def pins() -> list[str]:
    """Return `name==version` of PyTorch's packages and of their installed dependencies."""
    found: dict[str, str] = {}
    waiting = list(PACKAGES)
    while waiting:
        name = waiting.pop()
        version = installed_version(name)
        if version is None or name in found:
            continue
        found[name] = version
        for requirement in importlib.metadata.requires(name) or []:
            needed = re.match(r"[\w.-]+", requirement)
            if needed and "extra ==" not in requirement:
                waiting.append(re.sub(r"[-_.]+", "-", needed[0]).lower())
    return [f"{name}=={version}" for name, version in sorted(found.items())]


def restore_files() -> list[Path]:
    """Return the files of saved versions, the newest last."""
    return sorted((Path(sys.prefix) / "pytorch-before-nightly").glob("*.txt"))


def save_versions() -> Path:
    """Write the installed versions into a new file in the environment, and return its path."""
    folder = Path(sys.prefix) / "pytorch-before-nightly"
    folder.mkdir(exist_ok=True)
    path = folder / f"{datetime.now().strftime('%Y-%m-%d_%H-%M-%S-%f')}.txt"
    path.write_text("\n".join(pins()) + "\n", encoding="utf-8")
    return path


def restore_command(install: list[str], file: Path) -> list[str]:
    """Return the command that installs the versions in `file`."""
    versions = dict(line.split("==") for line in file.read_text(encoding="utf-8").split())
    torch = versions.get("torch", "")
    label = torch.partition("+")[2]
    command = [*install, "-r", str(file)]
    if label or ".dev" in torch:
        command += ["--extra-index-url", f"{NIGHTLY if '.dev' in torch else STABLE}/{label or 'cpu'}"]
        if "-m" not in install:  # uv would take all packages on PyTorch's index from there
            command += ["--index-strategy", "unsafe-best-match"]
    return command


def imported_versions() -> dict[str, str]:
    """Import the installed PyTorch packages in a new Python, and return their versions. Raises Problem."""
    names = [name for name in PACKAGES if installed_version(name)]
    program = (
        f"import json, {', '.join(names)}; print(json.dumps([m.__version__ for m in ({', '.join(names)},)]))"
    )
    versions = json.loads(run([sys.executable, "-c", program], "importing PyTorch").splitlines()[0])
    return dict(zip(names, versions))  # noqa: B905 - `strict` is newer than Python 3.9


def bring_back(install: list[str], file: Path) -> str:
    """Install the versions in `file` again, and return them as text. Raises Problem."""
    if not file.read_text(encoding="utf-8").strip():
        raise Problem(f"no PyTorch was installed before; to remove it: pip uninstall {' '.join(PACKAGES)}")
    command = restore_command(install, file)
    try:
        run(command, "restoring")
        return in_words(imported_versions())
    except Problem as problem:
        raise Problem(f"{problem}; to try again: {shlex.join(command)}") from None


def in_words(versions: dict[str, str]) -> str:
    """Return versions as `torch 2.15.0, torchvision 0.29.2`."""
    return ", ".join(f"{name} {version}" for name, version in versions.items()) or "no PyTorch"


def agreed(question: str) -> bool:
    """Ask the user; anything but yes means no."""
    try:
        return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


def upgrade(install: list[str], index: str, options: argparse.Namespace) -> None:
    """Show the plan, ask, save the versions, install, check; restore them on failure. Raises Problem."""
    before = {name: version for name in PACKAGES if (version := installed_version(name))}
    print(f"installed  {in_words(before)}")
    print(f"asking     {index}: a minute or several", flush=True)
    newest = find_newest(install, index)
    if all(before.get(name) == version for name, version in newest.items()):
        print(f"newest     the same: nothing to do ({index})")
        return
    command = [*install, "--pre", *(f"{name}=={version}" for name, version in newest.items())]
    command += ["--index-url", index]
    print(f"newest     {in_words(newest)}")
    print(f"command    {shlex.join(command)}")
    if options.dry_run or not (options.yes or agreed("Run it?")):
        print("nothing was changed")
        return
    file = save_versions()
    print(f"saved      {file}")
    try:
        run(command, "installing")
        after = imported_versions()
        if any(after[name].partition("+")[0] != newest[name].partition("+")[0] for name in newest):
            raise Problem(f"what can be imported is {in_words(after)}")
    except (Problem, KeyboardInterrupt) as problem:
        reason = str(problem) or "interrupted"
        try:
            back = bring_back(install, file)
        except Problem as second:
            raise Problem(f"{reason}; {second}") from None
        file.unlink()
        raise Problem(f"{reason}; back are {back}") from None
    print(
        f"imported   {in_words(after)}\nto go back: {shlex.join([sys.executable, sys.argv[0], '--restore'])}"
    )


def restore(install: list[str], options: argparse.Namespace) -> None:
    """Restore the versions before the last upgrade. Raises Problem."""
    files = restore_files()
    if not files:
        raise Problem("nothing to restore: no upgrade by this program is noted in this environment", code=2)
    print(f"saved      {', '.join(files[-1].read_text(encoding='utf-8').split())}")
    print(f"command    {shlex.join(restore_command(install, files[-1]))}")
    if options.dry_run or not (options.yes or agreed("Run it?")):
        print("nothing was changed")
        return
    print(f"imported   {bring_back(install, files[-1])}")
    files[-1].unlink()


class Parser(argparse.ArgumentParser):
    """An ArgumentParser that reports an error in one line."""

    def print_usage(self, file: object = None) -> None:
        """Print nothing, so that only the line with the error remains."""


def main() -> int:
    """Upgrade or restore as the command line says; return the exit code."""
    parser = Parser(description=(__doc__ or "").partition("\n")[0], allow_abbrev=False)
    parser.add_argument("--dry-run", action="store_true", help="show what would be done, and do nothing")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument(
        "--restore", action="store_true", help="go back to the versions before the last upgrade"
    )
    parser.add_argument("--index-url", metavar="URL", help="another index, such as a mirror")
    options = parser.parse_args()
    try:
        install = installer()
        if options.restore:
            restore(install, options)
        else:
            upgrade(install, options.index_url or index_for_this_machine(), options)
    except Problem as problem:
        print(f"error: {problem}", file=sys.stderr)
        return problem.code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
