"""Whole runs: what is learned, what is written, what is said; options that are refused."""

import math

import pytest
import torch

from examples.two_tower.negatives import NONE
from examples.two_tower.options import resolve
from tests.examples.program_runs import assert_refused

SCORES = {"recall_1", "recall_5", "recall_10", "recall_50", "mrr", "contain_50"}


def test_generated_pairs_are_learned(run_train, without_curves):
    """At least 0.7 of what the best scorer finds, from nothing."""
    run = run_train(data="generated", device="cpu")
    summary = run.json("summary.json")
    assert summary["untrained"]["recall_5"] < 0.05
    assert 0.75 < summary["best"]["recall_5"] < 0.85
    assert 0.7 * summary["best"]["recall_5"] < summary["recall_5"] < summary["best"]["recall_5"]
    epochs = [line for line in run.metrics if "recall_5" in line]
    assert epochs[0]["train_loss"] > 1.5 * epochs[-1]["train_loss"]
    assert epochs[0]["train_loss"] < math.log(64 + 4)  # below that of a constant


def test_state_space_blocks_learn_as_well(run_train, without_curves):
    run = run_train(data="generated", device="cpu", tower="ssm", rows=1200, epochs=4)
    summary = run.json("summary.json")
    assert summary["recall_5"] > 10 * max(summary["untrained"]["recall_5"], 0.02)


def test_what_a_run_writes_and_says(undisturbed, tiny):
    run = undisturbed(tiny())
    config, out = run.json("config.json"), (run.folder / "train.log").read_text().splitlines()
    assert config["untrained"].keys() == config["best"].keys() == SCORES
    assert len(config["held_out_articles"]) == 5
    assert config["near_miss_coverage"] is None  # a run without a file finds them itself
    last = run.metrics[-1]
    assert last.keys() >= SCORES | {"train_loss", "train_accuracy", "negatives_per_sample"}
    assert last["near_miss_coverage"] == 1
    starts = [line.split(" ")[0] for line in out]
    assert starts[:5] == ["network", "versions", "device", "precision", "data"]
    assert out[0].startswith("network    width 8, 1 state-space blocks, state 16: ")
    assert out[5] == "           240 pairs of 20 articles to learn from, 60 of 5 held out"
    assert out[6].startswith("           without training: R@1 ")
    assert out[7].startswith("           at best: R@1 ")
    assert out[8] == "negatives  the batch's payloads of other articles, 3 of the own article, 1 near miss"
    table = [line for line in out if line.split()[:1] in (["1"], ["2"], ["3"])]
    header = next(line for line in out if line.startswith("epoch"))
    assert {len(line) for line in table} == {len(header)}  # the columns do not move


def test_extra_negatives_are_as_many_as_wanted(run_train, tiny, without_curves):
    """In the first epoch of equal batches, each row has exactly those more."""
    few, many = (
        run_train(*tiny(epochs=1, same_article_k=own, near_miss_k=near), out=f"{own}{near}").metrics[-1]
        for own, near in ((0, 0), (2, 3))
    )
    assert many["negatives_per_sample"] - few["negatives_per_sample"] == pytest.approx(5, abs=1e-4)
    assert (few["near_miss_coverage"], many["near_miss_coverage"]) == (0, 1)
    assert few["negatives_per_sample"] < 31


def test_the_measures_of_a_step_against_loops(system, tiny):
    task = system.PROGRAM.prepare(system.read_command_line(tiny(near_miss_k=2)))
    task.begin_epoch(0)
    rows = task.learned[torch.randperm(240)[:32]]
    batch = rows, task.pairs.contexts[rows], task.pairs.payloads[rows]
    articles, ids = task.pairs.articles[rows], task.payload_ids
    other = int((articles != articles[0]).nonzero()[0])
    ids[rows[0]] = ids[rows[other]]  # for both contexts, both payloads are right
    loss, right, negatives, covered = task.measures(batch, task.state.model).tolist()
    equal = (articles[:, None] == articles) | (ids[rows][:, None] == ids[rows])
    allowed = ~equal | torch.eye(32, dtype=torch.bool)
    assert not allowed[0, other]
    extra = (task.negatives.rows[rows] != NONE).sum(1)
    assert negatives == pytest.approx((allowed.sum(1) - 1 + extra).float().mean().item())
    vectors, payloads, scale = task.state.model(*batch[1:])
    losses, hits = [], 0
    for i in range(32):
        columns = [payloads[j] for j in range(32) if allowed[i, j]]
        own = sum(allowed[i, :i].tolist())
        columns += [task.negatives.cache[one] for one in task.negatives.rows[rows[i]] if one != NONE]
        scores = scale * torch.stack([vectors[i] @ column for column in columns])
        losses.append((scores.logsumexp(0) - scores[own]).item())
        hits += int(scores.argmax()) == own
    assert loss == pytest.approx(sum(losses) / 32, abs=1e-5)
    assert (right, covered) == (pytest.approx(hits / 32), 1)


def test_a_learned_temperature_moves(run_train, tiny, without_curves):
    run = run_train(*tiny(epochs=1, learn_temperature=True))
    assert run.last["model"]["log_scale"].exp().item() != pytest.approx(1 / 0.07, rel=1e-6)
    assert run.json("config.json")["parameters"] == 1 + sum(
        weights.numel() for name, weights in run.last["model"].items() if name != "log_scale"
    )


def test_a_run_that_learns_nothing_says_so(run_train, tiny, without_curves):
    run = run_train(*tiny(epochs=1, lr=1e-12))
    assert "no better than without training: train longer, or with more pairs" in run.out


def test_accumulated_parts_have_fewer_negatives_each(run_train, tiny, without_curves):
    whole, parts = (
        run_train(*tiny(epochs=1, batch_size=size, accumulate=times), out=f"run{times}").metrics[-1]
        for size, times in ((32, 1), (16, 2))
    )
    assert whole["step"] == parts["step"]
    assert parts["negatives_per_sample"] < whole["negatives_per_sample"] - 10


def test_the_pages_have_a_recipe_of_their_own():
    options = resolve({})
    assert (options.data, options.size, options.epochs, options.batch_size) == ("pages", "small", 8, 64)
    assert (options.lr, options.dropout, options.weight_decay) == (1e-4, 0.3, 0.01)


def test_the_network_of_the_guide_has_its_size():
    options = resolve({"size": "origin"})
    assert (options.width, options.layers, options.state, options.expand, options.conv) == (768, 8, 128, 2, 4)


def test_a_file_of_pairs_has_the_guides_recipe(tmp_path):
    options = resolve({"data": str(tmp_path)})
    assert (options.size, options.batch_size, options.lr, options.weight_decay) == ("origin", 256, 1e-4, 0.01)
    assert (options.val_split, options.temperature, options.same_article_k) == (0.2, 0.07, 3)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--tower mamba", "--tower: invalid choice: 'mamba'"),
        (
            "--batch-size 1",
            "--batch-size 1: the other pairs of a batch are the negatives; it takes at least 2",
        ),
        ("--val-split 0", "--val-split: must be a number above 0 and below 1"),
        ("--val-split 0.99", "--val-split 0.99 leaves 0 pairs to learn from and 240 held out"),
        ("--batch-size 200", "--batch-size 200: there are only 192 pairs to learn from"),
        ("--batch-size 64 --accumulate 4", "--batch-size 64 × --accumulate 4: there are only 192 pairs to"),
        ("--temperature 0", "--temperature: must be a number from 0.01 to 10"),
        ("--dropout 1", "--dropout: must be a number"),
        ("--nearmiss-bank bank.npy", "--near-misses"),
        ("--d-model 768", "--width"),
        ("--p-cache no.npy --start-from no.pt", "no.pt"),
    ],
)
def test_one_line_and_nothing_written(run_train, tmp_path, words, message):
    assert_refused(run_train("--data=generated", "--rows=240", "--device=cpu", *words.split()), message)
    assert list(tmp_path.iterdir()) == []
