"""The training on one page has the networks of the full program, and its losses from the same batches."""

from pathlib import Path

import pytest
import torch

from examples.genomic_caduceus import single_file
from examples.genomic_caduceus.generated_sequences import motif_data
from examples.genomic_caduceus.model import Classifier
from examples.genomic_caduceus.tokens import complement_map
from examples.genomic_caduceus.train import PROGRAM


@pytest.fixture
def small(monkeypatch, one_thread):
    """Let the file draw few sequences and compute on the CPU."""
    for name, value in {"SEQUENCES": 320, "HELD_OUT": 80, "TEST": 40, "EPOCHS": 4, "BATCH_SIZE": 64}.items():
        monkeypatch.setattr(single_file, name, value)
    monkeypatch.setattr(single_file, "DEVICE", "cpu")


@pytest.fixture
def same_task(monkeypatch):
    """Return a function that prepares the full program with as many sequences."""
    monkeypatch.setattr("examples.genomic_caduceus.generated_sequences.TEST", 40)

    def prepare(*words):
        common = ["dataset.sequences=320", "epochs=4", "device=cpu"]
        return PROGRAM.prepare(PROGRAM.read_command_line([*common, *words]))

    return prepare


def test_it_draws_the_sequences_of_the_full_program(capsys):
    drawn, known = single_file.draw_sequences(), motif_data(4_000, 0)
    for (tokens, classes), part in zip(drawn, (known.train, known.val, known.test), strict=True):
        assert torch.equal(tokens, part.tokens.long()) and torch.equal(classes, part.classes)
    assert capsys.readouterr().out == f"accuracy at best {known.best[0]:.2%}\n"
    assert torch.equal(complement_map(), single_file.PARTNERS)


OTHERS = {
    "lr=1e-2": ("LEARNING_RATE", 1e-2),
    "weight_decay=0.3": ("WEIGHT_DECAY", 0.3),
    "seed=3": ("SEED", 3),
    "trainer.gradient_clip_val=0.1": ("MAX_NORM", 0.1),
    "scheduler.warmup=0.3": ("WARM_UP", 0.3),
    "model.config.d_model=18": ("WIDTH", 18),
    "model.config.n_layer=2": ("LAYERS", 2),
    "model.config.d_state=3": ("STATE", 3),
    "model.config.rcps=false": ("BOTH_STRANDS", False),
}


@pytest.mark.program
@pytest.mark.parametrize(
    ("settings", "near", "end"),
    [
        pytest.param({}, 1e-6, 1e-3, marks=pytest.mark.unmeasured, id="defaults"),
        pytest.param(OTHERS, 1e-6, 1e-3, id="every-setting"),
        pytest.param({"precision=bf16": ("PRECISION", "bf16")}, 1e-2, 0.1, marks=pytest.mark.long, id="bf16"),
    ],
)
@pytest.mark.usefixtures("small")
def test_first_20_losses_equal_the_full_program(same_task, monkeypatch, settings, near, end):
    """Equal weights at the beginning, bit for bit; afterwards the scans add up in another order."""
    task = same_task(*settings)
    for name, value in settings.values():
        monkeypatch.setattr(single_file, name, value)
    torch.manual_seed(single_file.SEED)
    found, expected = single_file.Classifier().state_dict(), task.state.model.state_dict()
    assert found.keys() == expected.keys()
    assert [name for name in expected if not torch.equal(found[name], expected[name])] == []
    losses = [task.learn(batch)[0].item() for epoch in range(4) for batch in task.batches(epoch, 0)]
    _, own = single_file.train()
    assert len(own) == 20
    assert own[0] == pytest.approx(losses[0], rel=near)
    assert own == pytest.approx(losses, rel=end)


@pytest.mark.usefixtures("small")
def test_both_strands_have_the_same_scores():
    model = single_file.Classifier()
    tokens = torch.randint(7, 11, (5, 30))
    assert torch.equal(model(tokens), model(single_file.reverse_complement(tokens)))
    full = Classifier(model.backbone, 2)  # of the full program, around the same backbone
    full.head = model.head
    torch.testing.assert_close(full(tokens), model(tokens))


@pytest.mark.program
@pytest.mark.usefixtures("small")
def test_nan_loss_ends_it_in_one_line(monkeypatch):
    monkeypatch.setattr(single_file, "LEARNING_RATE", float("inf"))
    with pytest.raises(SystemExit, match=r"^the loss became nan; lower LEARNING_RATE$"):
        single_file.train()


@pytest.mark.program
def test_program_uses_the_available_device_and_saves_weights(tmp_path, monkeypatch, capsys, one_thread):
    """With fewer sequences; the lines keep their numbers."""
    path = Path(single_file.__file__)
    text = path.read_text(encoding="utf-8")
    for usual, few in (("4_000, 1_000, 2_000", "128, 64, 64"), ("EPOCHS = 3", "EPOCHS = 1")):
        assert text.count(usual) == 1
        text = text.replace(usual, few)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["single_file.py"])
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    names = {"__name__": "__main__"}
    exec(compile(text, path, "exec"), names)
    printed = capsys.readouterr().out.splitlines()
    assert printed[2].startswith("on cpu, fp32, PyTorch ") and printed[-1].startswith("weights: genomic.pt; ")
    assert [file.name for file in tmp_path.iterdir()] == ["genomic.pt"]
    found = torch.load(tmp_path / "genomic.pt", weights_only=True)
    assert all(torch.equal(found[name], value) for name, value in names["network"].state_dict().items())
