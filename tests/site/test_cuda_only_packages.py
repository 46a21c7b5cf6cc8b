"""Packages that need CUDA: complete data, and the recipe's names."""

import re

import cuda_only_packages
import pytest
from origins import DATA, load

from tests.recipe_runs import RECIPES, run_recipe

PACKAGES = cuda_only_packages.packages()
READ = load("cuda_only_packages", DATA)["read"]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package["name"])
def test_every_package_is_complete_and_was_read_after_it_was_written(package):
    keys = {"name", "release", "purpose", "state", "note", "instead", "sources", "newest"}
    assert package.keys() == keys
    assert package["state"] in cuda_only_packages.STATES
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


@pytest.mark.parametrize(
    ("state", "language", "words"),
    [("none", "en", "**No.** No wheel"), ("partial", "zh", "**部分可以。**没有 wheel")],
)
def test_state_and_sources_in_words(state, language, words):
    package = {
        "state": state,
        "note": {"en": "no wheel", "zh": "没有 wheel"},
        "sources": [
            ["pull", 5, "a/b"],
            ["text", "https://github.com/a/b/blob/main/README.md"],
            ["text", "https://c.org/d/"],
        ],
    }
    shown = cuda_only_packages.in_words(package, language)
    assert shown["found"] == words
    assert re.findall(r"\[([^]]+)\]", shown["links"]) == ["a/b#5", "a/b", "c.org"]
