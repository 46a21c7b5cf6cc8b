"""The stored evaluation is that of the default run. What its pictures show: test_evaluate_program.py."""

import json

from matplotlib.figure import Figure

from tools.drawing import evaluation

STORED = json.loads(evaluation.DATA.read_text(encoding="utf-8"))


def test_dots_stand_where_the_bins_say():
    figure = Figure()
    evaluation.draw_calibration(STORED, figure)
    bins = STORED["calibration"]["bins"]
    for axes, less in zip(figure.axes, (0, 1), strict=False):
        dots = axes.containers[0].lines[0].get_xydata().tolist()
        assert dots == [[part["predicted"], part["observed"] - less * part["predicted"]] for part in bins]


def test_every_share_stands_in_its_column():
    figure = Figure()
    evaluation.draw_markets(STORED, figure)
    (axes,) = figure.axes
    heads = {round(text.get_position()[0], 1): text.get_text() for text in axes.texts[-6:]}
    assert list(heads.values()) == ["calm", "low volume", "volatile", "calm", "high volume", "volatile"]
    assert list(heads) == [0, 0.5, 1, 2, 2.5, 3]
    shares = [share for row in STORED["indicators"] for share in row["selected"]]
    assert [text.get_text() for text in axes.texts[:96]] == [f"{share:.0%}" for share in shares]
    assert axes.collections[0].get_array()[:, :, 3].ravel().tolist() == shares


def test_the_stored_evaluation_is_of_the_default_run():
    """Its provenance names commands that can be repeated, and nobody's own folders."""
    assert STORED["trained_by"].startswith("python examples/indicator_transformer/train.py")
    assert STORED["provenance"]["command"].startswith("python examples/indicator_transformer/evaluate.py")
    assert STORED["checkpoint"] == "runs/market/checkpoints/best.pt"
    assert STORED["provenance"]["cpu_threads"] == 1
    losses = STORED["losses"]
    assert losses["best"] < losses["network"] < losses["blind"] < losses["frequency"]
