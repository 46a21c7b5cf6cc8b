"""The page of the two-tower system prints what was counted and measured, and its tables show the data."""

import re
import statistics
from pathlib import Path

import pytest
import torch
import two_tower_tables as tables
import yaml

from examples.two_tower import ngrams
from examples.two_tower.data_sources import generate_pairs, read_passages
from examples.two_tower.model import Shape, expected_parameters
from examples.two_tower.options import SIZES
from tools.measuring import two_tower_pages as tool

ROOT = Path(__file__).resolve().parents[2]
DATA = yaml.safe_load(tool.DATA.read_text(encoding="utf-8"))
ORIGIN = 53_177_088  # parameters of the context tower in the guide's project
ARROW = "\N{NO-BREAK SPACE}→\N{NO-BREAK SPACE}"  # a phone must not break the cell
GUIDE_BATCH, GUIDE_ROWS = 256, 315_000


@pytest.fixture(scope="module", params=["en", "zh"])
def page(request):
    return (ROOT / f"docs/{request.param}/examples/two-tower/training.md").read_text(encoding="utf-8")


def rows(table):
    """Return the cells of a Markdown table without its head."""
    lines = [line for line in table.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.mark.parametrize("size", list(SIZES))
def test_the_sizes_are_those_of_the_formula(page, size):
    counts = [sum(expected_parameters(width, Shape(**SIZES[size]))) for width in (1024, 768)]
    assert re.search(rf"\| `{size}` \|[^|]+\| {counts[0]:,} \| {counts[1]:,} \|", page)


def test_the_difference_to_the_origin_is_one_layer_and_a_norm(page):
    shape = Shape(**SIZES["origin"])
    context, payload = expected_parameters(768, shape)
    full = shape.inner * shape.inner + shape.inner  # with its bias
    low_rank = shape.inner * shape.dt_rank + (shape.dt_rank + 1) * shape.inner
    thrown_away = shape.inner * shape.state  # half of what chooses B and C
    saved = full - low_rank
    assert context + shape.layers * saved - shape.width == ORIGIN
    counted = (ORIGIN, context, payload, saved, thrown_away, shape.layers * thrown_away)
    assert all(f"{count:,}" in page for count in (*counted, 12 * (ORIGIN + payload)))
    assert 12 * (ORIGIN + payload) / 2**20 == pytest.approx(622.1, abs=0.05)


def test_the_figures_about_memory_follow_from_the_shapes(page):
    shape = Shape(**SIZES["origin"])
    states = GUIDE_BATCH * 5 * shape.inner * shape.state * 4
    assert f"{states / 1e9:.2f} GB" == "1.01 GB"
    assert f"{60.2 * GUIDE_BATCH / 1e3:.1f} GB" == "15.4 GB"
    assert f"{60.2e6 * GUIDE_ROWS / 1e12:.0f} TB" == "19 TB"
    for text in (
        "1.01 GB",
        "15.4 GB",
        "19 TB",
        f"{len(read_passages()) * ngrams.WIDTH * 4 / 1e6:.1f} MB",
        "1.2 GB",
    ):
        assert text in page
    assert f"{394_000 * 768 * 4 / 1e9:.1f} GB" == "1.2 GB"
    assert f"{torch.tensor(68.0).log():.3f}" in page


def test_the_data_are_as_large_as_the_page_says(page):
    passages, generated = read_passages(), generate_pairs(2_400, 1.4, seed=0)
    sizes = {
        "pages": (len(passages), len({passage.page for passage in passages}), ngrams.WIDTH),
        "generated": (len(generated), len(generated.articles.unique()), generated.payloads.shape[1]),
    }
    for name, (pairs, articles, width) in sizes.items():
        assert re.search(rf"\| `{name}` \|[^|]+\| {pairs:,} \| {articles} \| {width:,} \|", page)


def test_each_split_is_a_row_and_the_last_one_is_the_mean():
    found = rows(tables.splits("en"))
    before, after = (DATA[name] for name in ("untrained", "runs"))
    after = after[0]["best"]
    assert [row[0] for row in found] == [*map(str, DATA["seeds"]), "Mean"]
    assert found[1][3] == f"{before['recall_5'][1]:.1%}{ARROW}{after['recall_5'][1]:.1%}"
    mean = [statistics.fmean(values["mrr"]) for values in (before, after)]
    assert found[-1][4] == f"{mean[0]:.3f}{ARROW}{mean[1]:.3f}"


def test_every_kind_of_negatives_is_compared_with_none():
    found = rows(tables.negatives("en"))
    assert [row[0] for row in found] == [run["name"]["en"] for run in DATA["runs"]]
    compared = dict(zip((row[0] for row in found), (row[4] for row in found), strict=True))
    assert [name for name, gain in compared.items() if gain == "–"] == ["none"]
    default, none = (run["best"]["recall_5"] for run in DATA["runs"][:2])
    gains = [100 * (own - other) for own, other in zip(default, none, strict=True)]
    assert found[0][4] == f"{statistics.fmean(gains):+.1f} ({min(gains):+.1f} to {max(gains):+.1f})"


def test_the_tool_stores_a_score_of_each_seed(monkeypatch):
    """With stand-ins for the programs."""
    started = []

    def evaluations(options, seed, folder):
        started.append((options, seed))
        scores = {"recall_1": seed / 10 + 0.00001}
        return {
            name: {"bank": 7, "queries": 3 + seed, "untrained": scores, "trained": scores}
            for name in tool.CHECKPOINTS
        }

    monkeypatch.setattr(tool, "evaluations", evaluations)
    run = {"options": ["--near-miss-k", "0"]}
    shared = tool.measure(run, [1, 2])
    assert started == [(run["options"], 1), (run["options"], 2)]
    assert run["best"] == run["last"] == {"recall_1": [0.1, 0.2]}
    assert shared == {"bank": 7, "queries": [4, 5], "untrained": {"recall_1": [0.1, 0.2]}}


def percent(values):
    return f"{statistics.fmean(values):.1%}"


def test_what_the_page_says_about_the_splits_was_measured(page):
    before, default = DATA["untrained"]["recall_5"], DATA["runs"][0]
    after, last = (default[name]["recall_5"] for name in tool.CHECKPOINTS)
    gains = [100 * (own - other) for own, other in zip(after, before, strict=True)]
    section = page[page.index("{ #results }") : page.index("{ #search }")]
    said = [f"{min(gains):.1f}", f"{max(gains):.1f}", percent(before), percent(after)]
    said += [f"{min(after):.1%}", f"{max(after):.1%}", percent(last)]
    places = [section.index(text) for text in said]
    assert places == sorted(places)
    assert max(after) == after[DATA["seeds"].index(0)]


def test_what_the_page_says_about_extra_negatives_was_measured(page):
    section = page[page.index("{ #do-negatives-help }") : page.index("{ #files }")]
    both, none = (run["best"]["recall_5"] for run in DATA["runs"][:2])
    gains = [own - other for own, other in zip(both, none, strict=True)]
    assert min(gains) > 0
    assert f"{100 * min(gains):.1f}" == "0.4"
    assert f"{100 * max(gains):.1f}" == "1.1"
    contexts = [round(gain * queries) for gain, queries in zip(gains, DATA["queries"], strict=True)]
    assert set(contexts) == {1, 2}
    near, own_article = (run["best"]["recall_5"] for run in DATA["runs"][2:])
    assert statistics.fmean(near) == pytest.approx(statistics.fmean(both), abs=0.002)
    assert all(own <= other for own, other in zip(own_article, none, strict=True))
    trained = statistics.fmean(both) - statistics.fmean(DATA["untrained"]["recall_5"])
    assert all(text in section for text in ("0.4", "1.1", f"{100 * trained:.1f}"))
