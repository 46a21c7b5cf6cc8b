"""The loop of the page on long runs: a signal ends it after its step, and the next start goes on there."""

import itertools
import signal
import subprocess
import sys

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


def saved(folder):
    """Return what the loop saved: weights, state of the optimizer, step."""
    return torch.load(folder / "last.pt", weights_only=True)


@SIGNALS
@pytest.mark.parametrize("path", [RECIPE, RESUMED])
def test_a_signal_ends_the_loop_after_its_step(path, number, batches, tmp_path):
    batches(0, signal_in=100, number=number)
    printed, names = run_recipe(path, tmp_path)
    assert printed.endswith("step 100 is in last.pt\n")
    weights, moments, step = saved(tmp_path)
    assert step == moments["state"][0]["step"] == 100
    torch.testing.assert_close(weights, dict(names["model"].state_dict()), rtol=0, atol=0)


@pytest.mark.parametrize("path", [RECIPE, RESUMED])
def test_a_signal_after_the_save_loses_no_step(path, tmp_path):
    """Such as in a line of the reader's, below those that save."""
    section = path.read_text(encoding="utf-8").replace("# --8<-- [end:recipe]\n", "")
    longer = tmp_path / "train.py"
    longer.write_text(f"{section}    step == 100 and signal.raise_signal(signal.SIGINT)\n", encoding="utf-8")
    _, names = run_recipe(longer, tmp_path)
    assert saved(tmp_path)[2] == names["step"] == 101


@pytest.mark.parametrize("path", [RECIPE, RESUMED])
def test_a_crash_while_saving_leaves_the_save_before(path, batches, tmp_path, monkeypatch):
    save, files = torch.save, []

    def crashes_at_the_second(content, name):
        save(content, name)
        files.append(name)
        if len(files) == 2:
            cut = (tmp_path / name).read_bytes()[:100]
            (tmp_path / name).write_bytes(cut)
            raise OSError("No space left on device")

    batches(0)
    monkeypatch.setattr(torch, "save", crashes_at_the_second)
    with pytest.raises(OSError, match="No space"):
        run_recipe(path, tmp_path)
    assert saved(tmp_path)[2] == 500


@pytest.mark.program
def test_a_killed_run_goes_on_after_its_save(tmp_path):
    endless = tmp_path / "train.py"
    text = RESUMED.read_text(encoding="utf-8").replace(" 0, 1000,", " 0, 10**9,")
    endless.write_text(text, encoding="utf-8")
    step = 0
    for _ in range(2):
        command = [sys.executable, "-u", endless.name]
        with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as run:
            begun, *_ = [run.stdout.readline() for _ in range(3)]  # then it has saved twice
            run.kill()
            assert run.wait(60) == -signal.SIGKILL
        assert begun == (f"goes on after step {step}\n" if step else "begins, because there is no last.pt\n")
        before, step = step, saved(tmp_path)[2]
        assert step >= before + 1000
        assert step % 500 == 0


def test_the_next_start_goes_on_as_if_never_stopped(batches, tmp_path):
    for folder in ("stopped", "whole"):
        (tmp_path / folder).mkdir()
    batches(0)
    run_recipe(RESUMED, tmp_path / "whole")
    batches(0, signal_in=100)
    printed, _ = run_recipe(RESUMED, tmp_path / "stopped")
    assert printed == "begins, because there is no last.pt\nstep 100 is in last.pt\n"
    batches(100)
    printed, _ = run_recipe(RESUMED, tmp_path / "stopped")
    assert printed == "goes on after step 100\nstep 500 is in last.pt\nstep 1000 is in last.pt\n"
    torch.testing.assert_close(saved(tmp_path / "stopped"), saved(tmp_path / "whole"), rtol=0, atol=0)


def test_a_finished_run_has_nothing_to_do(tmp_path):
    run_recipe(RESUMED, tmp_path)
    printed, _ = run_recipe(RESUMED, tmp_path)
    assert printed == "goes on after step 1000\n"


def test_the_lines_stand_before_while():
    """The page asks for them there, in the loop of the recipe."""
    (recipe,), _ = parse_sections(RECIPE, ROOT)
    (go_on,), _ = parse_sections(RESUMED, ROOT)
    before, loop, after = recipe.text.partition("while ")
    lines = RESUMED.read_text(encoding="utf-8").splitlines()
    text = "\n".join(line for line in lines if "--8<--" not in line)
    assert "".join((before, go_on.text.rstrip(), "\n\n", loop, after)).strip() in text
