"""The training on one page is that of train_nodes.py with --data generated."""

from pathlib import Path

import numpy
import pytest
import torch

from examples.floorplan_diffusion import generated_plans, single_file, train_nodes
from examples.floorplan_diffusion.diffusion import STEPS, Schedule, sample
from examples.floorplan_diffusion.node_network import node_tensor
from examples.floorplan_diffusion.options import resolve_nodes

NAMES = {"lr": "LEARNING_RATE"}  # the others are the option's name in capitals
SETTINGS = (
    "plans",
    "epochs",
    "batch_size",
    "lr",
    "weight_decay",
    "ema",
    "place_weight",
    "focus",
    "alignment",
    "width",
    "layers",
    "heads",
    "seed",
)


@pytest.fixture
def set_all(monkeypatch):
    """Return a function that gives the settings of the page the values of options."""

    def change(options):
        for name, value in options.items():
            monkeypatch.setattr(single_file, NAMES.get(name, name.upper()), value)
        monkeypatch.setattr(single_file, "DEVICE", "cpu")
        monkeypatch.setattr(single_file, "SAMPLES", 2)

    return change


def test_the_settings_are_the_defaults():
    options = resolve_nodes({})
    for name in SETTINGS:
        assert getattr(single_file, NAMES.get(name, name.upper())) == getattr(options, name), name
    assert (options.optimizer, options.precision) == ("muon", "fp32")
    assert (train_nodes.NodeDiffusion.max_norm, STEPS) == (single_file.MAX_NORM, single_file.STEPS)


@pytest.mark.parametrize("grid", [8, 24])
def test_it_draws_the_same_plans(set_all, monkeypatch, grid):
    """On a wide grid there is often no place left to cut, and the plan is drawn anew."""
    set_all({"plans": 150, "seed": 4, "grid": grid})
    monkeypatch.setattr(generated_plans, "MODULE", grid)
    splits = generated_plans.generate_splits(150, 4)
    most = splits.most_corners()
    learned, held_out = single_file.draw_plans()
    parts = [part.padded(most) for part in (splits.train, splits.val, splits.test)]
    expected = [node_tensor(part.corners, part.kinds, part.real()) for part in parts]
    assert torch.equal(learned, expected[0])
    assert torch.equal(held_out, torch.cat(expected[1:]))
    random = numpy.random.default_rng([4, 0])
    assert all(single_file.draw_rooms(random) for _ in range(150)) == (grid == 8)


@pytest.mark.parametrize("program_name", ["floorplan_diffusion/train_nodes"], indirect=True)
def test_each_setting_means_what_the_option_means(run_train, without_curves, set_all, monkeypatch):
    """Losses, which one adds up in float32, and weights and their averages bit by bit, in few steps."""
    monkeypatch.setattr(train_nodes.NodeDiffusion, "max_norm", 0.5)
    monkeypatch.setattr(single_file, "MAX_NORM", 0.5)
    same = {"plans": 90, "epochs": 3, "batch_size": 16, "lr": 3e-3, "weight_decay": 0.1, "ema": 0.7}
    same |= {"place_weight": 3.0, "focus": 1.5, "alignment": 50.0, "width": 32, "layers": 2, "heads": 2}
    same["seed"] = 3
    assert same.keys() == set(SETTINGS)
    run = run_train(device="cpu", **same)
    assert run.code == 0, run.err
    set_all(same)
    network, average, losses = single_file.train()
    found = {f"network.{name}": weight for name, weight in network.state_dict().items()}
    found |= {f"average.{name}": weight for name, weight in average.state_dict().items()}
    expected = run.last["model"]
    assert found.keys() == expected.keys()
    assert [name for name in expected if not torch.equal(found[name], expected[name])] == []
    assert not torch.equal(found["network.bits.bias"], found["average.bits.bias"])
    epochs = [line["train_loss"] for line in run.metrics if "val_loss" in line]
    assert len(epochs) == 3
    assert losses == pytest.approx(epochs, rel=1e-6)


@pytest.mark.slow
def test_it_samples_as_generate_does(set_all, one_thread):
    """With a network that has not learned, whose noise is not that of the samples."""
    set_all({"width": 16, "layers": 1, "heads": 2, "seed": 5})
    torch.manual_seed(0)
    network = single_file.NodeNetwork()
    columns = single_file.KEPT.sqrt(), (1 - single_file.KEPT).sqrt(), single_file.BETAS
    found = single_file.sample(network, [column.float() for column in columns], 6)
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        *_, (_, expected) = sample(network, Schedule(torch.device("cpu")), (2, 6, 10), generator)
    assert torch.equal(found, expected)
    assert found.std() > 0.1


def test_program_prints_results_and_saves_averaged_weights(tmp_path, monkeypatch, one_thread, capsys):
    text, path = Path(single_file.__file__).read_text(encoding="utf-8"), single_file.__file__
    for default, small in (
        ("PLANS = 4_000", "PLANS = 80"),
        ("EPOCHS = 24", "EPOCHS = 2"),
        ("WIDTH, LAYERS, HEADS = 64, 4, 4", "WIDTH, LAYERS, HEADS = 16, 1, 2"),
        ("STEPS, SAMPLES = 1000, 32", "STEPS, SAMPLES = 1000, 2"),
        ('DEVICE = ""', 'DEVICE = "cpu"'),
    ):
        assert text.count(default) == 1
        text = text.replace(default, small)  # the lines keep their numbers
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["single_file.py"])
    names = {"__name__": "__main__"}
    exec(compile(text, path, "exec"), names)
    found, expected = torch.load(tmp_path / "corners.pt"), names["average"].state_dict()
    assert found.keys() == expected.keys()
    assert all(torch.equal(found[name], expected[name]) for name in expected)
    first, *epochs, held_out, new, last = capsys.readouterr().out.splitlines()
    assert first == "80 plans, on cpu; untrained: loss 48"
    losses = [f"epoch {number}: loss {loss:.3f}" for number, loss in enumerate(names["losses"], 1)]
    assert len(epochs) == 2 and epochs == losses
    assert held_out.endswith(" corners, 0.00 px out of line")  # that is the rule of these plans
    assert new.startswith("new plans: ") and not new.endswith(" 0.00 px out of line")
    assert last.startswith("weights: corners.pt; ")


def test_nan_loss_ends_it_in_one_line(set_all, one_thread, monkeypatch):
    set_all({"plans": 80, "epochs": 2, "batch_size": 16, "width": 16, "layers": 1, "heads": 2})
    monkeypatch.setattr(single_file, "LEARNING_RATE", float("inf"))
    with pytest.raises(SystemExit, match=r"^the loss became nan; lower LEARNING_RATE$"):
        single_file.train()
