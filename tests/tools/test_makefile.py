"""What make does: help, the choice of a Python, environments that survive interruption, clean.

It runs in a copy of the project whose path has a space. The Pythons are small stand-ins that note how they
were called, so nothing is downloaded; where a version is judged, the real Python runs with that version
patched in.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.program

ROOT = Path(__file__).resolve().parents[2]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
# The commands that make and the scripts use, and no Python.
COMMANDS = (
    "sh", "bash", "make", "awk", "sed", "cat", "cmp", "mkdir", "mktemp", "mv", "rm", "ls", "du", "find",
    "sort", "tr", "uname", "dirname", "env", "touch", "cp", "chmod",
)  # fmt: skip

STAND_IN = """#!/bin/sh
echo "$*" >> "{log}"
case "$1 $2" in
    "-c "*probe*) echo "probe 3.13.1 new complete {machine} $0" ;;
    "-m venv") mkdir -p "$3/bin"; cp "$0" "$3/bin/python" ;;
    "-m pip")
        [ ! -e "{failing}" ] || exit 1
        case "$*" in *download.pytorch.org*) [ ! -e "{failing}-index" ] || exit 1 ;; esac ;;
esac
exit 0
"""


class Project:
    """A copy of the project with its own PATH."""

    def __init__(self, folder: Path):
        self.root = folder / "a clone"
        self.bin = folder / "bin"
        self.log = folder / "calls.txt"
        self.failing = folder / "pip-fails"
        self.bin.mkdir()
        for name in COMMANDS:
            (self.bin / name).symlink_to(shutil.which(name))
        for name in ("tools", "requirements", "examples", "runs/one"):
            (self.root / name).mkdir(parents=True)
        for script in (ROOT / "tools").glob("*.sh"):
            shutil.copy(script, self.root / "tools")
        for name in ("pip.txt", "site.txt", "examples.txt", "dev.txt"):
            shutil.copy(ROOT / "requirements" / name, self.root / "requirements")
        for name in ("Makefile", "pyproject.toml"):
            shutil.copy(ROOT / name, self.root)
        (self.root / "runs/one/summary.json").write_text("{}", encoding="utf-8")

    def command(self, name: str, text: str) -> Path:
        """Put a script on the PATH."""
        path = self.bin / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
        return path

    def python(self, name: str = "python3", machine: str = "x86_64") -> Path:
        """Put a stand-in for a suitable Python on the PATH."""
        return self.command(name, STAND_IN.format(log=self.log, machine=machine, failing=self.failing))

    def real_python(self, name: str, patch: str) -> Path:
        """Put the Python of this test on the PATH, with `patch` executed at its start."""
        folder = self.bin.parent / f"patch-{name}"
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(f"import sys, platform\n{patch}\n", encoding="utf-8")
        real = getattr(sys, "_base_executable", sys.executable)
        return self.command(name, f'#!/bin/sh\nPYTHONPATH="{folder}" exec "{real}" "$@"\n')

    def run(self, *command: str, **variables: str) -> subprocess.CompletedProcess:
        """Run a command in the copy with nothing but its own PATH."""
        environment = {"PATH": str(self.bin), "HOME": str(self.root), "LC_ALL": "C", **variables}
        return subprocess.run(
            command, cwd=self.root, env=environment, capture_output=True, text=True, timeout=120, check=False
        )

    def calls(self) -> list[str]:
        """Return how the stand-ins were called since the last time."""
        lines = self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return lines


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


def one_line(result: subprocess.CompletedProcess) -> str:
    """Return the only line on standard error, without make's own that follows."""
    lines = [line for line in result.stderr.splitlines() if not line.startswith("make")]
    assert len(lines) == 1, result.stderr
    return lines[0]


def test_help_is_the_default_and_names_every_target(project):
    internal = {"always", "known-system", "named-page"}
    targets = set(re.findall(r"^\.PHONY: ([\w-]+)", MAKEFILE, re.MULTILINE)) - internal
    result = project.run("make")
    assert result.returncode == 0
    assert {line.split()[0] for line in result.stdout.splitlines()[1:]} == targets
    assert {"serve", "train", "test", "site", "lint", "clean"} <= targets
    assert project.run("make", "help").stdout == result.stdout


def test_makefile_stays_within_make_3_81():
    # Newer than 3.81: one shell per recipe, grouped targets, shell and POSIX assignment, file, undefine.
    assert not re.search(r"\.ONESHELL|!=|&:|::?:=|\$\(file |^undefine|\.RECIPEPREFIX", MAKEFILE, re.MULTILINE)


@pytest.mark.parametrize(
    ("patch", "expected"),
    [
        ("sys.version_info = (3, 9, 6, 'final', 0)", "found 3.9.6 at"),
        ("sys.version_info = (3, 11, 4, 'final', 0)", "found 3.11.4 at"),
        ("sys.modules['ensurepip'] = None", "without the modules venv and ensurepip"),
    ],
)
def test_unsuitable_python_is_one_line_with_the_cure(project, patch, expected):
    project.real_python("python3", patch)
    result = project.run("make", ".venv/.site")
    assert result.returncode == 2
    line = one_line(result)
    assert line.startswith("This needs Python 3.11.5 or newer; ")
    assert expected in line
    assert line.endswith("then run make again.")
    assert not (project.root / ".venv").exists()


def test_without_any_python_the_line_says_so(project):
    assert "found none" in one_line(project.run("make", ".venv/.site"))


def test_commands_that_exist_but_fail_are_passed_over(project):
    project.command("python3.13", "#!/bin/sh\necho 'pyenv: python3.13: command not found' >&2\nexit 127\n")
    project.command("python3.12", "#!/bin/sh\necho not a python\n")
    suitable = project.real_python("python3", "")
    result = project.run("tools/find_python.sh")
    assert result.returncode == 0, result.stderr
    assert Path(result.stdout.strip()).is_file()
    result = project.run("tools/find_python.sh", PYTHON=str(suitable))
    assert result.returncode == 0


def test_a_chosen_python_is_not_replaced_by_another(project):
    project.real_python("python3", "")
    old = project.real_python("old", "sys.version_info = (3, 8, 0, 'final', 0)")
    assert "found 3.8.0" in one_line(project.run("tools/find_python.sh", PYTHON=str(old)))
    for wrong, why in (("/no/such/python", "does not exist"), ("ls", "cannot be run")):
        result = project.run("make", ".venv/.site", f"PYTHON={wrong}")
        assert result.returncode == 2
        assert f"PYTHON={wrong} {why}" in one_line(result)


def test_on_apple_silicon_a_rosetta_python_is_refused(project):
    (project.bin / "uname").unlink()
    project.command("uname", '#!/bin/sh\n[ "$1" = -m ] && echo arm64 || echo Darwin\n')
    project.command("sysctl", "#!/bin/sh\necho 1\n")
    project.real_python("python3.13", "platform.machine = lambda: 'x86_64'")
    line = one_line(project.run("tools/find_python.sh"))
    assert "runs as x86_64 under Rosetta" in line
    assert "`brew install python@3.13`" in line
    project.real_python("python3", "platform.machine = lambda: 'arm64'")
    assert project.run("tools/find_python.sh").returncode == 0


def test_the_second_make_installs_nothing(project):
    project.python()
    first = project.run("make", ".venv/.examples")
    assert first.returncode == 0, first.stderr
    installed = [call for call in project.calls() if call.startswith("-m pip install")]
    assert any("-r requirements/examples.txt" in call for call in installed)
    assert not any("-r requirements/site.txt" in call for call in installed)
    assert any("-e ." in call for call in installed)
    second = project.run("make", ".venv/.examples")
    assert second.returncode == 0
    assert second.stderr == ""
    assert not any("pip" in call for call in project.calls())


def test_from_an_index_of_pytorch_comes_nothing_else(project):
    project.python()
    index = {"TORCH_INDEX_URL": "https://download.pytorch.org/whl/cpu"}
    assert project.run("make", ".venv/.examples", **index).returncode == 0
    installed = [call for call in project.calls() if "pip install" in call]
    (from_index,) = [call for call in installed if "download.pytorch.org" in call]
    assert "--no-deps --index-url https://download.pytorch.org/whl/cpu -r .venv/torch.txt" in from_index
    names = re.findall(r"^[\w.-]+", (project.root / ".venv/torch.txt").read_text("utf-8"), re.MULTILINE)
    assert set(names) == {"torch", "torchvision"}
    assert installed.index(from_index) < next(n for n, call in enumerate(installed) if "examples.txt" in call)
    assert project.run("make", ".venv/.site", **index).returncode == 0
    assert not any("download.pytorch.org" in call for call in project.calls())


def linux(project, *, gpu=False):
    """Make the machine a Linux PC, with an NVIDIA GPU or without."""
    (project.bin / "uname").unlink()
    project.command("uname", '#!/bin/sh\n[ "$1" = -m ] && echo x86_64 || echo Linux\n')
    if gpu:
        project.command("nvidia-smi", "#!/bin/sh\n")


@pytest.mark.parametrize(
    ("gpu", "chosen", "asked"), [(False, None, True), (True, None, False), (False, "", False)]
)
def test_without_a_gpu_pytorch_is_the_build_for_cpus(project, gpu, chosen, asked):
    project.python()
    linux(project, gpu=gpu)
    settings = {} if chosen is None else {"TORCH_INDEX_URL": chosen}
    assert project.run("make", ".venv/.examples", **settings).returncode == 0
    assert (
        any("--index-url https://download.pytorch.org/whl/cpu" in call for call in project.calls()) == asked
    )


def test_usual_build_is_taken_without_the_cpu_index(project):
    project.python()
    linux(project)
    project.failing.with_name(f"{project.failing.name}-index").touch()
    result = project.run("make", ".venv/.examples")
    assert result.returncode == 0
    assert "cannot be reached: taking the CUDA build" in result.stderr
    assert (project.root / ".venv/.examples").exists()


def test_changed_pins_are_installed(project):
    project.python()
    project.run("make", ".venv/.site")
    project.calls()
    with (project.root / "requirements/site.txt").open("a", encoding="utf-8") as pins:
        pins.write("another==1.0\n")
    project.run("make", ".venv/.site")
    assert any("-r requirements/site.txt" in call for call in project.calls())


def test_an_interrupted_installation_is_repeated(project):
    project.python()
    project.failing.touch()
    result = project.run("make", ".venv/.site")
    assert result.returncode == 2
    assert "not complete" in result.stderr
    assert not (project.root / ".venv/.site").exists()
    project.failing.unlink()
    assert project.run("make", ".venv/.site").returncode == 0
    assert (project.root / ".venv/.site").exists()


def damage_python(project):
    (project.root / ".venv/bin/python").unlink()
    (project.root / ".venv/bin/python").symlink_to("/no/such/python")


def half_make(project):
    (project.root / ".venv/.making").touch()


def move(project):
    moved = project.root.with_name("moved")
    project.root.rename(moved)
    project.root = moved


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [(damage_python, "does not run"), (half_make, "half made"), (move, "it was made in")],
)
def test_a_broken_environment_is_made_again(project, spoil, reason):
    project.python()
    project.run("make", ".venv/.site")
    spoil(project)
    result = project.run("make", ".venv/.site")
    assert result.returncode == 0, result.stderr
    assert reason in result.stderr
    assert (project.root / ".venv/.site").exists()
    assert project.run("make", ".venv/.site").stderr == ""


def test_an_environment_stays_when_no_python_could_replace_it(project):
    stand_in = project.python()
    project.run("make", ".venv/.site")
    half_make(project)
    stand_in.unlink()
    assert project.run("make", ".venv/.site").returncode == 2
    assert (project.root / ".venv/bin/python").exists()


def test_an_unknown_system_is_answered_with_the_known_ones(project):
    shutil.copy(ROOT / "examples/systems.py", project.root / "examples")
    project.real_python("python3", "")
    result = project.run("make", "train", "SYSTEM=two")
    assert result.returncode == 2
    assert one_line(result).startswith("error: 'two' is unknown; choose one of: cifar_optimizers, ")
    assert not (project.root / ".venv").exists()  # said before five gigabytes are installed


def test_a_system_is_trained_with_its_arguments(project):
    project.python()
    assert project.run("make", "train", "SYSTEM=one", "ARGS=--quick --seed 3").returncode == 0
    assert project.calls()[-1] == "examples/systems.py one --quick --seed 3"


@pytest.mark.parametrize(("words", "tests_too"), [("--plan", False), ("--full --plan", True)])
def test_the_long_verification_installs_what_tests_need(project, words, tests_too):
    project.python()
    assert project.run("make", "verify-mac", f"ARGS={words}").returncode == 0
    *made, last = project.calls()
    assert last == f"examples/verify_handbook.py {words}"
    assert any("-r requirements/dev.txt" in call for call in made) == tests_too


def test_clean_prints_its_size_and_keeps_runs(project):
    made = project.root / "site"
    made.mkdir()
    (made / "index.html").write_bytes(os.urandom(3 * 1024 * 1024))
    (project.root / "data").mkdir()
    (project.root / "tools/__pycache__").mkdir()
    result = project.run("make", "clean")
    assert result.returncode == 0, result.stderr
    assert re.search(r"^Removed 3\.\d MB: .*\bsite\b", result.stdout, re.MULTILINE), result.stdout
    assert not made.exists()
    assert not (project.root / "tools/__pycache__").exists()
    assert (project.root / "runs/one/summary.json").exists()
    assert "Kept runs/" in result.stdout
    assert "Kept data/" in result.stdout
    again = project.run("make", "clean")
    assert again.returncode == 0
    assert again.stdout.startswith("Nothing to remove.")
