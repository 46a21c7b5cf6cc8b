"""Whole runs: what is learned, against what is known to be possible; what is written and said."""

import pytest
import torch
from torch.nn import functional as F

from examples.genomic_caduceus import pretrain
from examples.genomic_caduceus.learning import warm_up_then_cosine
from examples.genomic_caduceus.tokens import MASK
from tests.examples.genomic_caduceus.conftest import pretrain_only, train_only

pytestmark = pytest.mark.unmeasured


@pytest.mark.long
@train_only
def test_sequences_with_a_motif_are_recognised(run_train, without_curves):
    """Of the default data, whose best possible accuracy is 0.97."""
    run = run_train(device="cpu", max_steps=150, **{"model.config.d_model": 16})
    summary = run.json("summary.json")
    assert 0.96 < summary["best_possible_accuracy"] < 0.99
    assert 0.85 < summary["test_accuracy"] < summary["best_possible_accuracy"]
    assert summary["test_loss"] > summary["best_possible_loss"]


@pretrain_only
def test_masked_bases_are_guessed_from_both_sides(run_train, without_curves):
    """A network that sees only what came before cannot have a lower loss than 0.940."""
    network = {"model.config.d_model": 16, "model.config.d_state": 2}
    data = {"dataset.sequences": 2000, "dataset.max_length": 32}
    run = run_train(device="cpu", max_steps=60, epochs=9, **network, **data)
    floors = run.json("summary.json")["floors"]
    assert floors["before"] == pytest.approx(0.940, abs=1e-3)
    assert floors["both sides"] < run.json("summary.json")["val_loss"] < floors["before"]


# ---- A step ----


@train_only
def test_the_measures_of_a_step_of_classes(task_of):
    task = task_of()
    batch = next(task.batches(0, 0))
    loss, right = task.measures(batch, task.network).tolist()
    scores = task.state.model(batch[0].long())
    losses = [F.cross_entropy(row, number).item() for row, number in zip(scores, batch[1], strict=True)]
    hits = [row.argmax() == number for row, number in zip(scores, batch[1], strict=True)]
    assert (loss, right) == (pytest.approx(sum(losses) / 6), pytest.approx(sum(hits) / 6))


@pretrain_only
def test_the_measures_of_a_step_of_masked_bases(task_of, monkeypatch):
    """Of the guessed bases alone, and of the tokens that were there before."""
    task, seen = task_of(), []
    original = pretrain.masked

    def noted(*given):
        seen.append(original(*given))
        return seen[-1]

    monkeypatch.setattr(pretrain, "masked", noted)
    tokens = next(task.batches(0, 0))[0].long()
    loss, right = task.measures([tokens], task.network).tolist()
    ((hidden, guessed),) = seen
    assert (hidden == MASK).any()
    scores, losses, hits = task.state.model(hidden), [], []
    for row, place in guessed.nonzero().tolist():
        losses.append(F.cross_entropy(scores[row, place], tokens[row, place]).item())
        hits.append((scores[row, place].argmax() == tokens[row, place]).item())
    assert (loss, right) == (
        pytest.approx(sum(losses) / len(losses), rel=1e-5),
        pytest.approx(sum(hits) / len(hits)),
    )


@pretrain_only
def test_a_batch_without_a_base_to_guess_harms_nothing(task_of):
    task = task_of()
    tokens = torch.full((6, 24), 11)  # N
    assert task.measures([tokens], task.network).tolist() == [0, 0]
    task.learn([tokens.to(torch.uint8)])
    assert all(weights.isfinite().all() for weights in task.state.model.parameters())


@pretrain_only
def test_held_out_bases_are_the_same_after_every_epoch(task_of):
    task = task_of()
    first = task.evaluate(1, [0.0, 0.0], 1.0)
    torch.rand(5)
    assert task.evaluate(2, [0.0, 0.0], 1.0).values == first.values
    _, hidden, guessed = task.held_out
    share = guessed.float().mean().item()
    assert 0.08 < share < 0.25 and (hidden == MASK).sum() > 0.5 * guessed.sum()


def test_other_strands_are_drawn_while_learning_alone(task_of, system, monkeypatch):
    turned, original = [], system.turned_at_random
    monkeypatch.setattr(system, "turned_at_random", lambda *given: turned.append(1) or original(*given))
    for rc_aug, expected in (("false", 0), ("true", 1)):
        task = task_of(**{"dataset.rc_aug": rc_aug, "model.config.rcps": "false"})
        turned.clear()
        task.learn(next(task.batches(0, 0)))
        task.evaluate(1, [0.0, 0.0], 1.0)
        assert len(turned) == expected


@pytest.mark.slow
@train_only
def test_evaluation_averages_both_strands_when_asked(task_of):
    """With one strand in training, conjoining makes the answer that of both."""
    found = {}
    for conjoin in ("false", "true"):
        task = task_of(**{"model.conjoin_test": conjoin, "model.config.rcps": "false"})
        found[conjoin] = task.scored("test", task.test)
        scorer = task.state.model.conjoined if conjoin == "true" else task.state.model
        with torch.no_grad():
            scores = scorer(task.test[0].long())
        expected = F.cross_entropy(scores, task.test[1]).item()
        assert found[conjoin]["test_loss"] == pytest.approx(expected, rel=1e-5)
    assert found["true"]["test_loss"] != pytest.approx(found["false"]["test_loss"], rel=1e-6)


def test_the_rate_rises_and_falls_to_a_tenth():
    rates = [warm_up_then_cosine(step, 100, 0.1) for step in range(100)]
    assert rates[:3] == [pytest.approx(n / 11) for n in (1, 2, 3)]
    assert max(rates) == rates[10] == 1
    assert rates[10:] == sorted(rates[10:], reverse=True)
    assert rates[55] == pytest.approx(0.55)  # half way
    assert rates[-1] == pytest.approx(0.1, abs=1e-3)
    assert warm_up_then_cosine(100, 100, 0.1) == pytest.approx(0.1)
    for total, warmup in ((1, 0.0), (1, 0.9), (2, 0.5)):
        assert all(0 < warm_up_then_cosine(step, total, warmup) <= 1 for step in range(total + 1))


# ---- What is written and said ----


@train_only
def test_what_a_training_of_classes_writes_and_says(undisturbed, tiny):
    run = undisturbed(tiny())
    config, out = run.json("config.json"), (run.folder / "train.log").read_text().splitlines()
    assert config["classes"] == ["background", "motif"]
    assert config["sequences"] == {"train": 48, "val": 20} and config["length"] == 24
    assert [line.split(" ")[0] for line in out[:5]] == ["network", "versions", "device", "precision", "data"]
    assert out[0].startswith("network    bidirectional Mamba, 1 layer of width 8, state 2, both strands: ")
    assert "48 sequences to learn from, 20 held out, 240 for the test; 24 tokens" in out[5]
    assert out[6].strip().startswith("accuracy 9")
    summary = run.json("summary.json")
    assert {"test_accuracy", "test_loss", "val_accuracy", "best_possible_accuracy"} <= summary.keys()
    assert run.metrics[-1].keys() >= {"train_loss", "train_accuracy", "val_loss", "test_loss"}
    assert "test_loss" not in run.metrics[0]  # the test comes once, at the end
    assert_columns_stand(out)


@pretrain_only
def test_what_a_training_of_masked_bases_writes_and_says(undisturbed, tiny):
    run = undisturbed(tiny())
    out = (run.folder / "train.log").read_text().splitlines()
    assert "48 sequences of 24 bases to learn from, 20 held out; 15% of the bases are to be guessed" in out[5]
    assert out[6].strip() == (
        "lowest loss of a network that sees nothing 1.386, before 0.940, both sides 0.661"
    )
    assert out[-1].startswith("next       python examples/genomic_caduceus/train.py train.pretrained=")
    assert run.metrics[-1].keys() >= {"train_loss", "train_accuracy", "val_loss", "val_accuracy"}
    assert_columns_stand(out)


def assert_columns_stand(out):
    """Fail unless the lines of the table are as long as its header."""
    header = next(line for line in out if line.startswith("epoch"))
    table = [line for line in out if line.split()[:1] in (["1"], ["2"], ["3"])]
    assert {len(line) for line in table} == {len(header)} and len(table) == 3
