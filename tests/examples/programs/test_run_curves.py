"""The picture of a run shows what its metrics say."""

import json

import pytest
from matplotlib.figure import Figure

from examples.programs.report import Curves, draw_curves

LINES = [
    {"step": 10, "epoch": 0.5, "loss": 2.0},
    {"step": 20, "epoch": 1.0, "loss": 1.0, "train_loss": 1.5, "train_accuracy": 0.5}
    | {"test_loss": None, "test_accuracy": 0.4},
    {"step": 40, "epoch": 2.0, "loss": 0.5, "train_loss": 0.75, "train_accuracy": 0.9}
    | {"test_loss": 0.7, "test_accuracy": 0.8},
]
METRICS = {name: {"training": f"train_{name}", "held out": f"test_{name}"} for name in ("loss", "accuracy")}


@pytest.fixture
def drawn(monkeypatch, tmp_path):
    """Return a function that draws panels, and gives their axes."""
    figures = []
    save = Figure.savefig

    def keep(figure, *arguments, **options):
        figures.append(figure)
        save(figure, *arguments, **options)

    monkeypatch.setattr(Figure, "savefig", keep)

    def draw(*panels):
        metrics = tmp_path / "metrics.jsonl"
        metrics.write_text("".join(json.dumps(line) + "\n" for line in LINES))
        draw_curves(metrics, tmp_path / "curves.png", "a title", panels)
        assert (tmp_path / "curves.png").stat().st_size > 10_000
        return figures[-1].axes

    return draw


def values(axes):
    """Return the labelled lines of a panel."""
    return {line.get_label(): (list(line.get_xdata()), list(line.get_ydata())) for line in axes.lines}


def test_every_value_is_drawn_where_it_belongs(drawn):
    loss, accuracy = drawn(
        Curves("nats", METRICS["loss"], single="loss", logarithmic=True),
        Curves("right", METRICS["accuracy"], percent=True),
    )
    assert values(loss) == {
        "training, one batch": ([0.5, 1.0, 2.0], [2.0, 1.0, 0.5]),
        "training": ([1.0, 2.0], [1.5, 0.75]),
        "held out": ([2.0], [0.7]),  # the infinite one of epoch 1 is left out
    }
    assert values(accuracy) == {"training": ([1.0, 2.0], [0.5, 0.9]), "held out": ([1.0, 2.0], [0.4, 0.8])}
    assert [(axes.get_ylabel(), axes.get_yscale()) for axes in (loss, accuracy)] == [
        ("nats", "log"),
        ("right", "linear"),
    ]
    assert accuracy.yaxis.get_major_formatter()(0.5) == "50%"


def test_limits_that_are_known_become_lines(drawn):
    limits = {"best possible": 0.6, "without context": 0.9}
    loss, accuracy = drawn(
        Curves("nats", METRICS["loss"], limits), Curves("right", METRICS["accuracy"], {"best possible": None})
    )
    assert {name: values(loss)[name][1] for name in limits} == {
        "best possible": [0.6, 0.6],
        "without context": [0.9, 0.9],
    }
    assert [line.get_linestyle() for line in loss.lines[-2:]] == ["--", ":"]
    assert values(accuracy).keys() == {"training", "held out"}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "name", ["a\udcff", "训练", "$\\frac{a$ $_", "a\nb"], ids=["bytes", "Chinese", "formula", "line"]
)
def test_the_name_of_the_data_may_be_anything(tmp_path, name):
    (tmp_path / "metrics.jsonl").write_text(json.dumps(LINES[0]) + "\n")
    draw_curves(
        tmp_path / "metrics.jsonl",
        tmp_path / "curves.png",
        f"{name}: 54%",
        [Curves("loss", {}, single="loss")],
    )
    assert (tmp_path / "curves.png").stat().st_size > 5_000
