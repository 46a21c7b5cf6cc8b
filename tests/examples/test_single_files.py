"""The trainings on one page: short, narrow, of nothing but PyTorch, and alone in an empty folder."""

import ast
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.examples.every_program import CASES

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(ROOT.glob("examples/*/single_file.py"))
MODULES = {"sklearn": "scikit-learn"}  # whose package has another name

each_file = pytest.mark.parametrize("file", FILES, ids=[file.parent.name for file in FILES])


def quick(file):
    """Return whether a file stands for the others here, which tests of their own train as well."""
    cases = CASES.get(file.parent.name)
    return cases is not None and cases.quick_single_file


@each_file
def test_it_fits_on_a_page(file):
    lines = file.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 254  # two of them mark the section for the page, two answer --help
    assert max(map(len, lines)) <= 100


@each_file
def test_header_declares_all_imports_and_no_project_module(file):
    text = file.read_text(encoding="utf-8")
    header = re.search(r"^# /// script\n((?:# .*\n)+)# ///$", text, re.MULTILINE)[1]
    script = tomllib.loads(re.sub(r"^# ", "", header, flags=re.MULTILINE))
    declared = {re.split(r"[<>=~]", package)[0] for package in script["dependencies"]}
    imported = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom):
            imported.add(node.module.partition(".")[0])
        elif isinstance(node, ast.Import):
            imported |= {name.name.partition(".")[0] for name in node.names}
    packages = {MODULES.get(name, name) for name in imported - sys.stdlib_module_names}
    assert packages == declared
    assert script["requires-python"] == ">=3.11"


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    "file", [*FILES, ROOT / "examples" / "first_run.py"], ids=lambda file: file.parent.name
)
@pytest.mark.parametrize(("word", "code", "said"), [("--help", 0, ""), ("--epochs=5", 2, "--epochs=5")])
def test_words_are_answered_and_nothing_is_trained(file, word, code, said, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [file.name, word])
    with pytest.raises(SystemExit) as left:
        runpy.run_path(str(file), run_name="__main__")
    printed = capsys.readouterr()
    what = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")), clean=False)
    assert (left.value.code, what.strip() in printed.out) == (code, code == 0)
    assert said in printed.err and list(tmp_path.iterdir()) == []


@pytest.mark.program
@pytest.mark.unmeasured
@pytest.mark.parametrize(
    "file",
    [
        pytest.param(file, id=file.parent.name, marks=[] if quick(file) else pytest.mark.long)
        for file in FILES
    ],
)
def test_it_runs_in_an_empty_folder(file, tmp_path):
    """One epoch, with the repository out of reach; nothing of ours is among what it imports."""
    text, count = re.subn(r"(?m)^EPOCHS = \d+", "EPOCHS = 1", file.read_text(encoding="utf-8"))
    assert count == 1
    (tmp_path / "single_file.py").write_text(text, encoding="utf-8")
    program = "import runpy, sys; runpy.run_path('single_file.py', run_name='__main__'); "
    program += "print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-I", "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    *printed, modules = done.stdout.splitlines()
    assert {"torch"} <= set(modules.split()) and not {"snippets", "examples"} & set(modules.split())
    assert printed[-1].startswith("weights: ")
    (weights,) = set(tmp_path.iterdir()) - {tmp_path / "single_file.py"}
    assert weights.suffix == ".pt"
