"""Programs run their own modules, from any folder and any environment, and say what is missing."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from examples.programs.imports import PACKAGES

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = sorted(
    str(path.relative_to(ROOT))
    for path in (ROOT / "examples").rglob("*.py")
    if "imports.prepare(" in path.read_text(encoding="utf-8")
)

pytestmark = [pytest.mark.program, pytest.mark.unmeasured]


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """Return a folder with copies of examples/ and snippets/ and nothing else."""
    clone = tmp_path_factory.mktemp("elsewhere") / "clone"
    for folder in ("examples", "snippets"):
        shutil.copytree(ROOT / folder, clone / folder, ignore=shutil.ignore_patterns("__pycache__"))
    return clone


def run(*words: str | Path, cwd: Path, path: str = "") -> subprocess.CompletedProcess:
    """Run Python; modules below `path` are found as those of an editable installation are."""
    environment = os.environ | {"PYTHONPATH": path}
    return subprocess.run(
        [sys.executable, *words], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )


def test_every_program_is_prepared():
    """Those without it need nothing of ours, or are started by one that has it."""
    assert len(PROGRAMS) >= 10
    for path in (ROOT / "examples").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if '__name__ == "__main__"' in text and str(path.relative_to(ROOT)) not in PROGRAMS:
            ours = "from snippets" in text or "from examples" in text
            assert not ours or path.name in ("child.py", "faiss_process.py", "training.py"), path


@pytest.mark.parametrize("program", PROGRAMS)
def test_missing_package_is_named_with_its_installation(clone, tmp_path, program):
    """In a Python without site-packages, which is what a user has who did not enter an environment."""
    done = run("-I", "-S", clone / program, "--help", cwd=tmp_path)
    assert done.returncode in (0, 2)
    if done.returncode == 2:
        (line,) = done.stderr.splitlines()
        name = line.split("'")[1]
        package = PACKAGES.get(name, name)
        assert line == (
            f"error: this Python has no module '{name}'; enter the environment that has it "
            f"(source .venv/bin/activate), or install it: {sys.executable} -m pip install {package} "
            f"(uv: uv pip install {package})"
        )
        assert name in ("torch", "tqdm", "numpy", "matplotlib", "omegaconf")
    else:  # it needs no package
        assert "usage" in done.stdout


def test_clone_runs_its_own_modules(clone, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(clone, other)
    report = other / "examples/cifar_optimizers/report.py"
    report.write_text(report.read_text().replace("network    ResNet-18", "network    ResNet-of-this-clone"))
    options = ["--max-steps", "1", "--width", "2", "--device", "cpu", "--out", "run"]
    done = run(other / "examples/cifar_optimizers/train.py", *options, cwd=tmp_path, path=str(clone))
    assert (done.returncode, done.stderr) == (0, "")
    assert "ResNet-of-this-clone" in done.stdout


def test_copied_folder_does_not_run_the_originals_modules(tmp_path):
    copied = tmp_path / "mine"
    shutil.copytree(ROOT / "examples/cifar_optimizers", copied)
    done = run(copied / "train.py", "--max-steps", "1", cwd=tmp_path, path=str(ROOT))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"error: {copied / 'train.py'} would run the modules in {ROOT}; "
        "copy examples/ and snippets/ along with it, or change the original\n"
    )
    done = run("-I", "-S", copied / "train.py", cwd=tmp_path)  # nothing is installed there
    assert done.returncode == 2
    assert done.stderr == (
        f"error: {copied / 'train.py'} needs examples/ and snippets/, as in the handbook; copy both\n"
    )
    assert not (tmp_path / "runs").exists()


@pytest.mark.long
@pytest.mark.parametrize("redirection", ["", ">&- 2>&-"])
def test_any_output_will_do(tmp_path, redirection):
    """Closed, or of ASCII only, where the multiplication sign of the sizes has no place."""
    program = ROOT / "examples/cifar_optimizers/train.py"
    command = f"{sys.executable} {program} --max-steps 1 --width 2 --device cpu --out run {redirection}"
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=tmp_path,
        env=os.environ | {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "run/summary.json").exists()
    assert "16×16" in (tmp_path / "run/train.log").read_text(encoding="utf-8")
    assert ("16?16" in done.stdout) == (not redirection)


SWALLOWS = """
import os, signal
from examples.programs import imports
from snippets import errors
imports.prepare(__file__)
try:
    os.kill(os.getpid(), signal.SIGINT)
    print("imported")
except BaseException:
    print("an optional package is missing")
errors.imported()
try:
    os.kill(os.getpid(), signal.SIGINT)
except KeyboardInterrupt:
    print("the program's own")
"""


def test_ctrl_c_during_imports_ends_the_program(clone, tmp_path):
    program = clone / "program.py"
    program.write_text(SWALLOWS)
    done = run(program, cwd=tmp_path, path=str(clone))
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")
    program.write_text(SWALLOWS.replace("os.kill(os.getpid(), signal.SIGINT)\n    print", "print"))
    done = run(program, cwd=tmp_path, path=str(clone))
    assert (done.returncode, done.stdout) == (0, "imported\nthe program's own\n")


def test_no_file_takes_the_place_of_a_closed_stream(tmp_path):
    """Whatever C code prints as an error would be written into it."""
    (tmp_path / "program.py").write_text(
        "from examples.programs import imports\n"
        "imports.accept_any_output()\n"
        "raise SystemExit(3 if open('own', 'w').fileno() > 2 else 1)\n"
    )
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        preexec_fn=lambda: [os.close(number) for number in range(3)],
        check=False,
    )
    assert done.returncode == 3


@pytest.mark.parametrize(
    "error", ["MemoryError", "ImportError('libx.so: failed to map segment from shared object')"]
)
def test_too_little_memory_for_the_imports_is_one_line(clone, tmp_path, error):
    program = clone / "program.py"
    program.write_text(f"from examples.programs import imports\nimports.prepare(__file__)\nraise {error}\n")
    done = run(program, cwd=tmp_path, path=str(clone))
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith("error: out of memory: end other programs, or allow more (ulimit -v)")


def test_programs_need_no_docstrings():
    """`python -OO` has none."""
    assert not [name for name in PROGRAMS if "__doc__." in (ROOT / name).read_text(encoding="utf-8")]
