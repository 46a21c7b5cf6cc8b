"""Runs of every program whose files somebody has edited: they go on as before, or one line says why not."""

import json
import random
import shutil

import pytest
import torch

from snippets.training_loop import new_progress
from tests.examples.attacks import STRANGE, assert_answered, edited, few_or, flipped, mutated
from tests.examples.program_runs import assert_same, contents

pytestmark = pytest.mark.unmeasured

LINES = (
    "garbage",
    "",
    "[1]",
    "{}",
    "\0\0\0",
    '{"step": null}',
    '{"step": "x"}',
    "[" * 5000,
    '{"step": 1e308}',
)
# What all checkpoints have. Moments of single weights are left out: PyTorch meets them in the first step.
PARTS = ("format", "config", "model", "schedulers", "scaler", "random_states", "step", *new_progress())


def edit_option(run, chance):
    """Change an option in config.json."""
    config = json.loads((run / "config.json").read_text())
    what, config["options"] = edited(config["options"], chance)
    (run / "config.json").write_text(json.dumps(config))
    return what


def edit_config(run, chance):
    """Change anything in config.json."""
    what, config = edited(json.loads((run / "config.json").read_text()), chance)
    (run / "config.json").write_text(json.dumps(config))
    return what


def edit_heartbeat(run, chance):
    """Change anything in heartbeat.json."""
    what, heartbeat = edited(json.loads((run / "heartbeat.json").read_text()), chance)
    (run / "heartbeat.json").write_text(json.dumps(heartbeat))
    return what


def damage_metrics(run, chance):
    """Put lines into metrics.jsonl that nobody wrote, or damage those that are there."""
    path = run / "metrics.jsonl"
    if chance.random() < 0.5:
        path.write_bytes(mutated(path.read_bytes(), chance))
        return "bytes"
    lines = path.read_text().splitlines()
    lines.insert(chance.randrange(len(lines) + 1), line := chance.choice(LINES))
    path.write_text("\n".join(lines) + "\n")
    return line[:40]


def remove(run, chance):
    """Remove a file or everything below a folder; the run is complete without it or starts anew."""
    name = chance.choice(("heartbeat.json", "metrics.jsonl", "train.log", "checkpoints/last.pt"))
    (run / name).unlink()
    return name


def edit_checkpoint(run, chance):
    """Change a number, a text or a list in last.pt; its sums are right again."""
    path = run / "checkpoints" / "last.pt"
    content = torch.load(path, weights_only=True)
    part = chance.choice(PARTS)
    if chance.random() < 0.3:
        group = chance.choice(chance.choice(content["optimizers"])["param_groups"])
        group[what := chance.choice(list(group))] = chance.choice(STRANGE)
    elif part in content["progress"]:
        what, content["progress"] = edited(content["progress"], chance, part)
    else:
        what, content = edited(content, chance, part)
    torch.save(content, path)
    return what


def flip_config(run, chance):
    """Flip a bit of config.json: it may become another option that is valid."""
    content = (run / "config.json").read_bytes()
    (run / "config.json").write_bytes(flipped(content, [chance.randrange(8 * len(content))]))
    return "a bit"


# In turn; a refused option costs milliseconds, all others build the training.
HARMLESS_OR_REFUSED = (*[edit_option] * 5, edit_config, edit_config, edit_heartbeat, damage_metrics, remove)
ANSWERED = (edit_checkpoint, edit_checkpoint, flip_config)


@pytest.mark.two_for_all
@pytest.mark.parametrize("kinds", [HARMLESS_OR_REFUSED, ANSWERED], ids=["harmless-or-refused", "answered"])
@few_or(300, 10)
def test_damaged_run_folders(
    run_train, save_often, stop, tiny, undisturbed, without_curves, tmp_path, kinds, amount
):
    """What is refused stays as it is; what goes on ends as if nothing had happened, unless it may differ."""
    reference = undisturbed(tiny())
    stop(reference.json("config.json")["total_steps"] - 1).folder.rename(tmp_path / "before")
    chance = random.Random(1)
    for number in range(amount):
        shutil.rmtree("run", ignore_errors=True)
        run = shutil.copytree("before", tmp_path / "run")
        damage = kinds[number % len(kinds)]
        what = f"{damage.__name__}: {damage(run, chance)}"
        before = contents(run)
        outcome = run_train(resume="run")
        assert_answered(outcome, (0, 2) if damage in HARMLESS_OR_REFUSED else (0, 1, 2), what)
        if outcome.code == 2:
            assert {path: text for path, text in contents(run).items() if path.name != "train.log"} == {
                path: text for path, text in before.items() if path.name != "train.log"
            }, what
        elif damage in HARMLESS_OR_REFUSED:
            assert_same(outcome.last, reference.last, what)
