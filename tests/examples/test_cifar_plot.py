"""The picture of a run shows what its metrics say."""

import json

import pytest
from matplotlib.figure import Figure

from examples.cifar_optimizers.plot import draw_curves

LINES = [
    {"step": 10, "epoch": 0.5, "loss": 2.0},
    {"step": 20, "epoch": 1.0, "loss": 1.0, "train_loss": 1.5, "train_accuracy": 0.5}
    | {"test_loss": None, "test_accuracy": 0.4},
    {"step": 40, "epoch": 2.0, "loss": 0.5, "train_loss": 0.75, "train_accuracy": 0.9}
    | {"test_loss": 0.7, "test_accuracy": 0.8},
]


@pytest.fixture
def drawn(monkeypatch, tmp_path):
    """Return a function that draws, and gives the labelled lines of both panels."""
    figures = []
    save = Figure.savefig

    def keep(figure, *arguments, **options):
        figures.append(figure)
        save(figure, *arguments, **options)

    monkeypatch.setattr(Figure, "savefig", keep)

    def draw(**limits):
        metrics = tmp_path / "metrics.jsonl"
        metrics.write_text("".join(json.dumps(line) + "\n" for line in LINES))
        draw_curves(metrics, tmp_path / "curves.png", "a title", **limits)
        assert (tmp_path / "curves.png").stat().st_size > 10_000
        return [
            {line.get_label(): (list(line.get_xdata()), list(line.get_ydata())) for line in axes.lines}
            for axes in figures[-1].axes
        ]

    return draw


def test_every_value_is_drawn_where_it_belongs(drawn):
    loss, accuracy = drawn()
    assert loss == {
        "training, one batch": ([0.5, 1.0, 2.0], [2.0, 1.0, 0.5]),
        "training": ([1.0, 2.0], [1.5, 0.75]),
        "held out": ([2.0], [0.7]),  # the infinite one of epoch 1 is left out
    }
    assert accuracy == {"training": ([1.0, 2.0], [0.5, 0.9]), "held out": ([1.0, 2.0], [0.4, 0.8])}


def test_limits_are_dashed_lines(drawn):
    loss, accuracy = drawn(least_loss=0.9, best_accuracy=0.98)
    assert loss["below: memorised"][1] == [0.9, 0.9]
    assert accuracy["best possible"][1] == [0.98, 0.98]
