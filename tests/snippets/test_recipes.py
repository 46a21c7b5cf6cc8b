"""Recipes run as pasted: alone, with PyTorch or the page's framework, and print what the pages show."""

import ast
import codeop
import shutil
import subprocess
import sys
from collections.abc import Collection
from itertools import zip_longest
from pathlib import Path

import pytest
import torch
import torch.distributed as dist

from snippets import device as ours
from tests.recipe_runs import RECIPES, ROOT, differences, run_recipe
from tools.checks.markdown_fences import find_fences
from tools.checks.sections import parse_sections
from tools.recordings import FOLDER

LINES, COLUMNS = range(5, 16), 88
OTHER_NAMES = {"several-gpus": "several_processes", "export": "export_core_ml"}
NO_OPENING = {"beyond-the-mac", "colab"}  # their readers choose, or follow steps, before any code
GUIDES = {
    f"guides/{path.name}": OTHER_NAMES.get(path.stem, path.stem.replace("-", "_"))
    for path in sorted((ROOT / "docs/en/guides").glob("*.md"))
    if path.stem not in NO_OPENING
}
# A recipe named like its framework would be imported in its place.
FRAMEWORKS = {
    "frameworks/hydra.md": "hydra_overrides",
    "frameworks/lightning.md": "lightning_on_mps",
    "frameworks/trainer.md": "trainer",
}
NEEDS = {  # beside PyTorch
    "accelerate_loop": {"accelerate"},
    "export_core_ml": {"coremltools"},
    "export_onnx": {"onnxruntime"},
    "hydra_overrides": {"hydra"},
    "lightning_on_mps": {"pytorch_lightning"},
    "trainer": {"transformers"},
}
needs_a_compiler = pytest.mark.skipif(
    not any(shutil.which(name) for name in ("c++", "g++", "clang++")),
    reason="the compiler of torch.compile for the CPU needs a C++ compiler, and there is none",
)
PROGRAMS = {
    "compile": [pytest.mark.program, needs_a_compiler],
    "benchmarking": pytest.mark.program,  # these two compute for seconds
    "time_and_cost": pytest.mark.program,
    "export_core_ml": pytest.mark.slow,
    "export_onnx": pytest.mark.slow,
    "trainer": pytest.mark.slow,
}


def recipe(path: Path, root: Path = ROOT) -> str:
    """Return the text that readers paste."""
    (section,), defects = parse_sections(path, root)
    assert section.name == "recipe"
    assert not defects
    return section.text


def shape_defects(text: str, needs: Collection[str] = ()) -> list[str]:
    """Return what keeps a text, which may also import what it `needs`, from being a recipe."""
    lines = [line for line in text.splitlines() if line.strip()]
    defects = [] if len(lines) in LINES else [f"{len(lines)} lines"]
    defects += [f"too wide: {line}" for line in lines if len(line) > COLUMNS]
    defects += [
        f"imports {name}"
        for name in sorted(imported(ast.parse(text)))
        if name not in {"torch", *needs, *sys.stdlib_module_names}
    ]
    return defects + ([] if can_be_typed(text) else ["cannot be pasted into the interpreter"])


def imported(tree: ast.AST) -> set[str]:
    """Return the packages that a program imports."""
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "." for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {name.partition(".")[0] for name in names}


def can_be_typed(text: str) -> bool:
    """Whether the interpreter takes a text line by line. It ends a block at an empty line, nowhere else."""
    entered: list[str] = []
    for line in [*text.splitlines(), ""]:
        entered.append(line)
        try:
            if codeop.compile_command("\n".join(entered)) is not None:
                entered.clear()
        except SyntaxError:
            return False
    return not entered


@pytest.mark.parametrize("name", [pytest.param(name, marks=PROGRAMS.get(name, [])) for name in RECIPES])
def test_recipe_runs_alone_and_prints_what_is_recorded(name, tmp_path):
    printed, _ = run_recipe(RECIPES[name], tmp_path)
    assert not differences(name, printed), printed


def test_compile_recipe_stays_eager_when_compiling_fails(tmp_path, monkeypatch):
    def compiles_later(model):
        def network(x):
            raise RuntimeError("no compiler")

        return network

    monkeypatch.setattr(torch, "compile", compiles_later)
    printed, names = run_recipe(RECIPES["compile"], tmp_path)
    assert printed == "eager mode, because of RuntimeError\n"
    assert names["compiled"] is names["model"]


def test_recipe_takes_its_own_samples(tmp_path, monkeypatch):
    """One process, which believes that another has the other half of the batch."""

    def alone(backend):
        dist.distributed_c10d.init_process_group(backend, store=dist.HashStore(), rank=0, world_size=1)

    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setattr(dist, "init_process_group", alone)
    printed, names = run_recipe(RECIPES["several_processes"], tmp_path)
    assert printed.startswith("processes: 2, gradient: ")
    assert not dist.is_initialized()
    model, batch = names["model"], names["batch"]
    own = torch.nn.Linear(4, 1)
    own.load_state_dict(model.state_dict())
    own(batch[::2]).square().mean().backward()
    torch.testing.assert_close(model.weight.grad, own.weight.grad / 2)  # the other's half would be added


@pytest.mark.program
@pytest.mark.long
@pytest.mark.parametrize("count", [2, 3])
def test_recipe_prints_the_gradient_of_one_process(count, tmp_path):
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={count}"]
    command.append(str(RECIPES["several_processes"]))
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    assert not differences("several_processes", done.stdout.replace(f": {count},", ": 1,")), done.stdout


@pytest.mark.parametrize("name", RECIPES)
def test_recipe_is_short_and_needs_pytorch_alone(name):
    assert shape_defects(recipe(RECIPES[name]), NEEDS.get(name, ())) == []


GOOD = "import torch\n\nfor x in range(2):\n    print(x)\n\nprint(torch)\nprint(1)\n"


@pytest.mark.parametrize(
    ("text", "defect"),
    [
        (GOOD, None),
        ("import torch\n", "1 lines"),
        (GOOD * 3 + "print(1)\n", "16 lines"),
        (GOOD + f"print({'1' * 90})\n", "too wide: print("),
        (GOOD + "import numpy\n", "imports numpy"),
        (GOOD + "from snippets.device import is_mps\n", "imports snippets"),
        (GOOD + "from . import device\n", "imports "),
        (GOOD.replace("(x)\n\n", "(x)\n"), "cannot be pasted"),
        (GOOD.replace("(x)", "(x)\n\n    print(x)"), "cannot be pasted"),
    ],
)
def test_shape_is_checked(text, defect):
    found = shape_defects(text)
    assert found == [] if defect is None else len(found) == 1 and found[0].startswith(defect)


def test_a_recipe_that_needs_this_project_fails(tmp_path):
    path = tmp_path / "recipe.py"
    path.write_text("from snippets.device import is_mps\n", encoding="utf-8")
    with pytest.raises(ModuleNotFoundError):
        run_recipe(path, tmp_path)
    assert sys.modules["snippets.device"] is ours  # it was away for the recipe only


def test_other_output_is_noticed():
    assert differences("device", "device: cuda\ncomputed on: cuda\n") == []
    assert differences("device", "device: cuda\n") != []
    assert differences("device", "device: gpu\ncomputed on: gpu\n") != []
    assert differences("profiling", "own ms  calls  name\n") == []


def page_defects(name: str, markdown: str) -> list[str]:
    """Return what is wrong with the recipes of a page: the first block is one, and output follows each."""
    fences = find_fences(markdown)[0]
    includes = [fence.include or "" for fence in fences]
    own = f"snippets/recipes/{name}.py:recipe"
    defects = [] if includes[:1] == [own] else [f"the first block is not {own}"]
    if fences and "\n## " in "\n".join(markdown.split("\n")[: fences[0].first]):
        defects.append("a heading before the first block")
    for include, after in zip_longest(includes, includes[1:]):
        if include.startswith("snippets/recipes/"):
            recording = f"{FOLDER.as_posix()}/recipe_{Path(include.partition(':')[0]).stem}.txt"
            defects += [] if after == recording else [f"{recording} does not follow its recipe"]
    return defects


@pytest.mark.parametrize("page", GUIDES | FRAMEWORKS)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_guide_begins_with_its_recipe(language, page):
    markdown = (ROOT / "docs" / language / page).read_text(encoding="utf-8")
    assert page_defects((GUIDES | FRAMEWORKS)[page], markdown) == []


def test_every_page_of_a_framework_is_among_them():
    assert FRAMEWORKS.keys() == {
        f"frameworks/{path.name}" for path in (ROOT / "docs/en/frameworks").glob("*.md")
    }


RECIPE = '```python\n--8<-- "snippets/recipes/long_runs.py:recipe"\n```\n'
OUTPUT = '```text\n--8<-- "docs/data/recorded/recipe_long_runs.txt"\n```\n'
OTHER = '```python\n--8<-- "snippets/device.py:pick_device"\n```\n'


@pytest.mark.parametrize(
    ("markdown", "defect"),
    [
        (f"# Long runs\n\n{RECIPE}\n{OUTPUT}\n{OTHER}", None),
        (f"# Long runs\n\n{OTHER}\n{RECIPE}\n{OUTPUT}", "the first block is not snippets/recipes/long_runs"),
        ("# Long runs\n", "the first block is not snippets/recipes/long_runs"),
        (f"# Long runs\n\n## Starting\n\n{RECIPE}\n{OUTPUT}", "a heading before"),
        (f"# Long runs\n\n{RECIPE}\n{OTHER}", "docs/data/recorded/recipe_long_runs.txt does not follow"),
        (f"# Long runs\n\n{RECIPE}", "docs/data/recorded/recipe_long_runs.txt does not follow"),
    ],
)
def test_pages_are_checked(markdown, defect):
    found = page_defects("long_runs", markdown)
    assert found == [] if defect is None else len(found) == 1 and found[0].startswith(defect)
