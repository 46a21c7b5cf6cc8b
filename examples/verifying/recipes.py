"""The recipes, each pasted into a file in an empty folder; their output against that on the pages."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from examples.check_claims import last_line
from examples.verifying.steps import (
    ROOT,
    Found,
    Place,
    Step,
    finish,
    missing_package,
    not_tried,
    scratch,
    this_python,
)

RECIPES = {path.stem: path for path in sorted((ROOT / "snippets/recipes").glob("*.py"))}
SECONDS = {
    "compile": 6.0,
    "export_core_ml": 6.0,
    "export_onnx": 5.0,
    "lightning_on_mps": 6.0,
    "time_and_cost": 7.0,
    "two_tower_loss": 5.0,
}  # others: 2.5

# What a recipe prints on MPS where that is more than another name of the device.
ON_MPS = {
    "compile": r"(compiled: same gradients as in eager mode|eager mode, because of \w+)\n",
    "memory": r"(with(out)? [\w ]+: tensors \d+ MB, held \d+ MB\n){2}",
    "missing_operators": (
        r"on the CPU instead: The operator 'aten::linalg_eig' is not currently implemented\n"
        r"eigenvalues: \[1\.382, 3\.618\]\n"
    ),
}


def differences(name: str, printed: str, on_mps: bool) -> list[str]:
    """Compare what a recipe printed on this machine with its recording, which was made on a CPU."""
    from tools.checks.compare_output import compare, compared_part
    from tools.recordings import FOLDER, read_recordings

    if name in ON_MPS and on_mps:
        return [] if re.fullmatch(ON_MPS[name], printed) else [f"on MPS, {name} printed {printed!r}"]
    entry = read_recordings(ROOT)[f"recipe_{name}"]
    recorded = (ROOT / FOLDER / f"recipe_{name}.txt").read_text(encoding="utf-8")
    old, new = (compared_part(entry, without_device(text)) for text in (recorded, printed))
    return compare(old, new, entry["compare"])[1]


def without_device(text: str) -> str:
    """Return an output with one word for the devices of any machine."""
    return re.sub(r"(?<!\+)\b(?:cpu, mps|cpu|mps|cuda)\b", "DEVICE", text)


def run_recipe(path: Path, on_mps: bool, seconds: float) -> Found:
    """Run a recipe as a reader does, and compare what it prints."""
    with scratch() as (folder, environment):
        # Beside the empty folder, because a recipe may look at all files of its folder.
        (folder.parent / "recipe.py").write_bytes(path.read_bytes())
        command = f"exec {this_python('../recipe.py')} 2>../errors"  # warnings are not on the pages
        code, printed = finish(command, folder, seconds, environment)
        errors = (folder / "../errors").read_text(encoding="utf-8", errors="replace")
    if why := missing_package(errors):
        return not_tried(why)
    if code:
        found = f"exit code {code}: {last_line(errors)}"
        return {"outcome": "failed", "expected": "exit code 0", "found": found}
    if different := differences(path.stem, printed, on_mps):
        return {"outcome": "failed", "expected": "the output on the page", "found": "; ".join(different)}
    return {"outcome": "ran"}


def steps(place: Place) -> Iterator[Step]:
    """Yield a step for each recipe."""
    from tools.checks.sections import all_sections

    sections = all_sections(ROOT)[0]
    for name, path in RECIPES.items():
        run = partial(run_recipe, path, place.device == "mps")
        file = f"snippets/recipes/{path.name}"
        yield Step("recipe", file, SECONDS.get(name, 2.5), run, code=sections[f"{file}:recipe"].hash)
