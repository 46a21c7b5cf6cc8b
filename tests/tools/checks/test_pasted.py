"""Blocks that promise to run when they are pasted do so, alone in an empty folder."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tools.checks.markdown_fences import find_fences
from tools.checks.pasted import undefined, whole
from tools.checks.sections import Section, all_sections, parse_sections

ROOT = Path(__file__).resolve().parents[3]
SECTIONS = all_sections(ROOT)[0]
# Recipes, scripts, cells and what needs a model or photos run in their own tests; one block is meant to fail.
RUN_ELSEWHERE = (
    "snippets/recipes/",
    "snippets/lora_",
    "snippets/transfer_learning",
    "examples/first_run",
    "examples/cifar_optimizers/single_file",
    "snippets/environment/",
)
MEANT_TO_FAIL = {"snippets/no_main_guard.py:no_guard"}
RUN = """
import contextlib, io, json, runpy, sys
sys.modules |= dict.fromkeys(("examples", "snippets", "tools"))  # as on a machine without this project
failed = {}
for path in sys.argv[1:]:
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            runpy.run_path(path, run_name="pasted")
    except BaseException as error:
        failed[path] = repr(error)
print(json.dumps(failed))
"""


def shown() -> dict[str, Section]:
    """Return the sections of Python that pages show."""
    pages = (path.read_text(encoding="utf-8") for path in (ROOT / "docs/en").rglob("*.md"))
    includes = {fence.include for page in pages for fence in find_fences(page)[0]}
    return {name: SECTIONS[name] for name in sorted(includes & SECTIONS.keys()) if ".py:" in name}


def run(texts: dict[str, str], folder: Path) -> dict[str, str]:
    """Run each text as a file in an empty folder, without this repository; return errors by name."""
    (folder / "blocks").mkdir()
    for number, text in enumerate(texts.values()):
        (folder / f"blocks/{number}.py").write_text(text, encoding="utf-8")
    files = [f"blocks/{number}.py" for number in range(len(texts))]
    done = subprocess.run(
        [sys.executable, "-P", "-c", RUN, *files], cwd=folder, capture_output=True, text=True, check=True
    )
    names = dict(zip(files, texts, strict=True))
    return {names[file]: error for file, error in json.loads(done.stdout.splitlines()[-1]).items()}


@pytest.mark.program
@pytest.mark.unmeasured
def test_blocks_run_when_they_are_pasted(tmp_path):
    texts = {name: whole(section, ROOT) for name, section in shown().items()}
    here = {
        name: text
        for name, text in texts.items()
        if text and name not in MEANT_TO_FAIL and not name.startswith(RUN_ELSEWHERE)
    }
    assert len(here) > 120
    assert run(here, tmp_path) == {}


@pytest.mark.program
@pytest.mark.unmeasured
def test_a_block_that_needs_more_fails(tmp_path):
    texts = {"good": "import torch\n", "name": "torch.ones(1)\n", "ours": "import snippets.device\n"}
    assert run(texts, tmp_path).keys() == {"name", "ours"}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("import torch\nx = torch.ones(1)\nprint(x)", set()),
        ("model(x)", {"model", "x"}),
        ("def f(a: Path) -> int:\n    b = a\n    return LIMIT + b", {"Path", "LIMIT"}),
        ("for i in range(3):\n    print([j for j in range(i)])", set()),
        ("class A(nn.Module):\n    def forward(self, x):\n        return super().forward(x)", {"nn"}),
        ("print(__file__)", {"__file__"}),  # an interpreter has none
    ],
)
def test_undefined_names(text, names):
    assert undefined(text) == names


FILE = '''"""A file."""

import math
from pathlib import Path
from snippets.device import pick_device

LIMIT = math.pi


def half(x):
    return x / 2


# --8<-- [start:alone]
print(1)
# --8<-- [end:alone]
# --8<-- [start:names]
print(half(LIMIT))
# --8<-- [end:names]
# --8<-- [start:ours]
pick_device()
# --8<-- [end:ours]
# --8<-- [start:caller]
print(loss)
# --8<-- [end:caller]
'''


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("alone", "print(1)\n"),
        (
            "names",
            "import math\n\nLIMIT = math.pi\n\ndef half(x):\n    return x / 2\n\nprint(half(LIMIT))\n",
        ),
        ("ours", None),
        ("caller", None),
    ],
)
def test_what_a_section_needs_stands_in_front(tmp_path, name, text):
    path = tmp_path / "snippets/file.py"
    path.parent.mkdir()
    path.write_text(FILE, encoding="utf-8")
    sections, defects = parse_sections(path, tmp_path)
    assert not defects
    [section] = [section for section in sections if section.name == name]
    assert whole(section, tmp_path) == text
