"""Packages that need CUDA: complete data, and the recipe's names."""

import pytest
from origins import DATA, load

from tests.recipe_runs import RECIPES, run_recipe

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
