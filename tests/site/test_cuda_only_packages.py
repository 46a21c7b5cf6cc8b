"""Packages that need CUDA: complete data, the recipe's names, and the list of changes for a script."""

import re
from pathlib import Path

import error_messages
import pytest
from origins import DATA, load

from tests.recipe_runs import RECIPES, run_recipe
from tools.checks.readings import parts

ROOT = Path(__file__).resolve().parents[2]
LANGUAGES = ("en", "zh")
LIST = "guides/cuda-only-packages.md#script"
IN_A_SCRIPT = (  # what stops a training script for NVIDIA on a Mac
    *(".cuda()", "torchrun", "deepspeed", "--deepspeed", "nccl", "torch.cuda.device_count()", "pin_memory"),
    *("bitsandbytes", "load_in_8bit", "load_in_4bit", "--fp16", "GradScaler", "num_workers", "accelerator"),
)
ERRORS = (  # which stop such a script first
    *("torch-not-compiled-with-cuda", "nccl-not-built-in", "redirects-not-supported"),
    *("bitsandbytes-without-gpu-support", "mps-accelerator-abstract"),
    *("gradscaler-cuda-not-available", "cuda-amp-deprecated"),
)
ANSWERS = ("script-on-mps", "one-script", "ddp", "ends-at-once", "cuda-not-compiled", "lora")
PACKAGES, READ = (load("cuda_only_packages", DATA)[name] for name in ("packages", "read"))


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package["name"])
def test_every_package_entry_is_complete_and_dated(package):
    keys = {"name", "release", "purpose", "state", "note", "instead", "sources", "newest"}
    assert package.keys() == keys
    assert package["newest"] <= READ
    for key in ("purpose", "note", "instead"):
        assert package[key].keys() == {"en", "zh"} and all(package[key].values())
    assert {kind for kind, *_ in package["sources"]} <= {"issue", "pull", "text"}
    assert any(kind != "text" for kind, *_ in package["sources"])


def test_the_recipe_knows_the_same_packages(tmp_path):
    names = sorted(package["name"] for package in PACKAGES)
    (tmp_path / "requirements.txt").write_text("\n".join(names), encoding="utf-8")
    printed, _ = run_recipe(RECIPES["cuda_only_packages"], tmp_path)
    assert sorted(line.partition(":")[0] for line in printed.splitlines()) == names


@pytest.mark.parametrize("language", LANGUAGES)
def test_list_of_changes_names_what_stops_a_script(language):
    page = (ROOT / "docs" / language / "guides" / "cuda-only-packages.md").read_text(encoding="utf-8")
    section = page.partition("{ #script }")[2].partition("\n## ")[0]
    left = " ".join(re.findall(r"^\| (.*?) \| ", section, re.M))
    assert [words for words in IN_A_SCRIPT if words not in left] == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("ident", ERRORS)
def test_errors_of_foreign_scripts_lead_to_the_list(ident, language):
    messages = [message for topic in error_messages.topics().values() for message in topic["messages"]]
    cure = next(message["cure"][language] for message in messages if message["id"] == ident)
    assert f"](../{LIST})" in cure


@pytest.mark.parametrize("ident", ANSWERS)
def test_answers_about_foreign_scripts_lead_to_the_list(ident):
    assert f"](../{LIST})" in parts(ROOT)[f"faq#{ident}"].text
