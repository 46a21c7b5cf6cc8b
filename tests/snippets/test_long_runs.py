"""The loop of the page on long runs: a signal ends it after its step, and the next start goes on there."""

import itertools
import signal

import pytest
import torch

from tests.recipe_runs import RECIPES, ROOT, run_recipe
from tools.checks.sections import parse_sections

RECIPE, RESUMED = RECIPES["long_runs"], ROOT / "snippets/long_runs_resumed.py"
SIGNALS = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])


@pytest.fixture
def batches(monkeypatch):
    """Let the loop train on given batches; return what sets the next one, and where a signal comes."""

    def begin(step, signal_in=0, number=signal.SIGTERM):
        steps = itertools.count(step + 1)

        def randn(*size):
            step = next(steps)
            if step == signal_in:
                signal.raise_signal(number)
            return torch.rand(size, generator=torch.Generator().manual_seed(step))

        torch.manual_seed(step)  # a new process begins with other weights
        monkeypatch.setattr(torch, "randn", randn)

    return begin


@SIGNALS
@pytest.mark.parametrize("path", [RECIPE, RESUMED])
def test_a_signal_ends_the_loop_after_its_step(path, number, batches, tmp_path):
    batches(0, signal_in=100, number=number)
    printed, names = run_recipe(path, tmp_path)
    assert printed.endswith("saved after step 100\n")
    state = torch.load(tmp_path / "last.pt", weights_only=True)
    assert state["step"] == 100
    assert state["optimizer"]["state"][0]["step"] == 100
    torch.testing.assert_close(state["model"], dict(names["model"].state_dict()), rtol=0, atol=0)


def test_the_next_start_goes_on_as_if_never_stopped(batches, tmp_path):
    for folder in ("stopped", "whole"):
        (tmp_path / folder).mkdir()
    batches(0)
    _, whole = run_recipe(RESUMED, tmp_path / "whole")
    batches(0, signal_in=100)
    printed, _ = run_recipe(RESUMED, tmp_path / "stopped")
    assert printed == "begins, because there is no last.pt\nsaved after step 100\n"
    batches(100)
    printed, resumed = run_recipe(RESUMED, tmp_path / "stopped")
    assert printed == "goes on after step 100\nsaved after step 1000\n"
    torch.testing.assert_close(resumed["state"], whole["state"], rtol=0, atol=0)


def test_a_finished_run_has_nothing_to_do(tmp_path):
    run_recipe(RESUMED, tmp_path)
    printed, _ = run_recipe(RESUMED, tmp_path)
    assert printed == "goes on after step 1000\nsaved after step 1000\n"


def test_the_lines_stand_before_while():
    """The page asks for them there, in the loop of the recipe."""
    (recipe,), _ = parse_sections(RECIPE, ROOT)
    (go_on,), _ = parse_sections(RESUMED, ROOT)
    before, loop, after = recipe.text.partition("while ")
    lines = RESUMED.read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if "--8<--" not in line)
    assert "".join((before, go_on.text.rstrip(), "\n\n", loop, after)).strip() in text
