"""The recipes on the simulated MPS device: they take it, and print the same there."""

import pytest

from tests.recipe_runs import RECIPES, differences, run_recipe

CHOOSES_A_DEVICE = {name for name, path in RECIPES.items() if "mps.is_available()" in path.read_text("utf-8")}


@pytest.mark.parametrize("name", RECIPES)
def test_recipe_runs_on_mps(name, tmp_path):
    printed, names = run_recipe(RECIPES[name], tmp_path)
    assert not differences(name, printed), printed
    if name in CHOOSES_A_DEVICE:
        assert names.get("device") == "mps" or "mps" in printed


def test_most_recipes_choose_a_device():
    assert RECIPES.keys() - CHOOSES_A_DEVICE <= {
        "accelerate_loop",
        "beyond_the_mac",
        "cuda_only_packages",
        "cuda_script",
        "hydra_overrides",
        "lightning_on_mps",
        "long_runs",
        "openmp",
        "several_processes",
        "trainer",
    }
