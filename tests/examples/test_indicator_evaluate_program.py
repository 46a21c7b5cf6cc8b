"""evaluate.py on a short run: what it prints, writes and draws, and what it refuses in one line."""

import json
import shutil

import numpy
import pytest
import torch
from matplotlib.figure import Figure
from matplotlib.image import imread

from examples.indicator_transformer import evaluate, evaluation_data, train
from examples.indicator_transformer.evaluation_plot import draw_evaluation
from examples.indicator_transformer.generated_bars import generate_market
from snippets.checkpoints import load_checkpoint
from snippets.errors import exit_with_one_line


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory, one_thread):
    """Train for one epoch of a few steps with the program itself."""
    folder = tmp_path_factory.mktemp("evaluated") / "run"
    words = [
        "--bars",
        "12000",
        "--epochs",
        "1",
        "--batch-size",
        "16",
        "--device",
        "cpu",
        "--out",
        str(folder),
    ]
    assert train.main(words) == 0
    return folder


@pytest.fixture
def call(capsys, monkeypatch):
    """Return a function that calls evaluate.py and returns exit code, output and errors.

    Drawing takes longer than everything else, so only who asks for the picture gets it.
    """

    def run(*words, draw=False):
        if not draw:
            monkeypatch.setattr(evaluate, "draw_evaluation", lambda evaluation, file: file.write(b"drawn"))
        capsys.readouterr()
        code = exit_with_one_line(evaluate.main, [*map(str, words), "--device", "cpu"])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


@pytest.fixture
def copy(run_folder, tmp_path):
    """Return a copy of the run, which a test may damage."""
    return shutil.copytree(run_folder, tmp_path / "copy")


@pytest.fixture
def bars_folder(tmp_path):
    """Return a folder with a symbol, whose bars no run has seen."""
    table = generate_market(3_000, seed=9).bars.table
    table.to_csv(tmp_path / "NEW.csv")
    return tmp_path


def change_config(folder, **changes):
    path = folder / "checkpoints" / "best.pt"
    content = load_checkpoint(path)
    content["config"] |= changes
    torch.save(content, path)
    return folder


def test_a_run_is_evaluated_on_what_it_held_out(run_folder, call):
    code, out, err = call(run_folder, draw=True)
    assert (code, err) == (0, "")
    found = json.loads((run_folder / "evaluation.json").read_text())
    summary = json.loads((run_folder / "summary.json").read_text())
    assert found["losses"]["network"] == pytest.approx(summary["val_bce"], rel=1e-5)
    assert found["direction"]["right"] == pytest.approx(summary["val_right"])
    assert found["losses"]["best"] == pytest.approx(summary["optimum"]["best_bce"])
    assert found["checkpoint"].endswith("best.pt")
    assert found["provenance"]["torch"] == str(torch.__version__)
    for words in ("constant frequencies", "best without context", "at best", "samples", "rsi (3)", "sma (4)"):
        assert words in out
    assert f"{found['losses']['network']:.4f}" in out
    assert not list(run_folder.glob(".*tmp"))
    assert imread(run_folder / "evaluation.png").shape[1] == 1350


def test_a_checkpoint_gives_the_same_and_goes_where_it_is_told(run_folder, call, tmp_path):
    call(run_folder)
    before = json.loads((run_folder / "evaluation.json").read_text())
    code, out, _ = call(run_folder / "checkpoints" / "best.pt", "--out", tmp_path / "new" / "place")
    after = json.loads((tmp_path / "new" / "place" / "evaluation.json").read_text())
    assert code == 0
    assert str(tmp_path / "new" / "place") in out
    assert {**after, "provenance": 0} == {**before, "provenance": 0}


def test_new_generated_bars_are_not_those_of_the_run(run_folder, call, tmp_path):
    code, out, _ = call(run_folder, "--data", "bars", "--out", tmp_path)
    found = json.loads((tmp_path / "evaluation.json").read_text())
    assert code == 0
    assert "all: the network has not learned from these bars" in out
    assert found["samples"] > 150  # of 200 hours, without the warm-up
    assert found["losses"]["frequency"] > found["losses"]["blind"] > found["losses"]["best"] > 0.1
    assert evaluation_data.NEW_SEED != 0


def test_other_bars_have_no_known_optimum_but_a_baseline(run_folder, call, bars_folder):
    code, out, _ = call(run_folder, "--data", bars_folder, "--out", bars_folder / "out")
    found = json.loads((bars_folder / "out" / "evaluation.json").read_text())
    assert code == 0
    assert found["losses"]["best"] is found["losses"]["blind"] is found["direction"]["best"] is None
    assert found["losses"]["frequency"] > 0
    assert "best possible" not in out
    assert found["notes"] == []


def test_other_intervals_are_named(run_folder, call, tmp_path):
    """Few samples, some markets without any: these are dashes, in the table and in the picture."""
    code, out, _ = call(run_folder, "--data", "goog", "--out", tmp_path, draw=True)
    assert code == 0
    assert "note       these bars come every 1 day; the network learned from bars every 1 minute" in out
    assert " - " in out


def test_a_damaged_best_checkpoint_is_replaced_by_the_newest(copy, call):
    (copy / "checkpoints" / "best.pt").write_bytes(b"half")
    code, out, _ = call(copy)
    assert code == 0
    assert "best.pt: it is damaged or cut off; taking" in out
    assert "last.pt: step" in out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda copy: [copy / "nope"], "there is no run folder or checkpoint"),
        (lambda copy: [copy.parent], "holds no run (no folder checkpoints)"),
        (
            lambda copy: [change_config(copy, system="cifar_optimizers")],
            "is a checkpoint of cifar_optimizers",
        ),
        (lambda copy: [change_config(copy, indicators=["moon"])], "was trained on other readings: moon"),
        (lambda copy: [change_config(copy, data_crc32=1)], "are not those that the network learned from"),
        (lambda copy: [copy, "--data", copy / "config.json"], "neither bars nor goog nor an existing folder"),
        (lambda copy: [copy, "--data", copy], "has no file SYMBOL.csv or SYMBOL.parquet"),
        (lambda copy: [copy, "--out", copy / "config.json"], "name another folder with --out"),
        (lambda copy: [copy, "--size", "large"], "unknown option '--size'"),
        (lambda copy: [], "required"),
    ],
)
def test_mistakes_are_answered_in_one_line(copy, call, change, message):
    code, _, err = call(*change(copy))
    assert code == 2
    assert err.count("\n") == 1
    assert message in err


def test_too_few_bars_and_those_that_were_learned_are_refused(copy, call, tmp_path):
    folder = tmp_path / "short"
    folder.mkdir()
    generate_market(120).bars.table.to_csv(folder / "SHORT.csv")
    code, _, err = call(copy, "--data", folder)
    assert (code, err.count("\n")) == (2, 1)
    assert "too few bars: the first sample needs" in err
    options = load_checkpoint(copy / "checkpoints" / "best.pt")["config"]["options"]
    change_config(copy, options=options | {"data": str(folder), "data_name": "folder"})
    code, _, err = call(copy, "--data", folder.parent / "." / "short")
    assert code == 2
    assert "is what the network learned from; leave out --data" in err


def test_bars_that_are_gone_leave_no_baseline(copy, call, tmp_path):
    options = load_checkpoint(copy / "checkpoints" / "best.pt")["config"]["options"]
    (tmp_path / "gone").mkdir()
    change_config(copy, options=options | {"data": str(tmp_path / "gone"), "data_name": "folder"})
    code, out, _ = call(copy, "--data", "bars", "--out", tmp_path)
    assert code == 0
    assert "nothing to take constant frequencies from" in out
    assert "constant frequencies   " not in out


def test_neighbouring_samples_that_share_bars_are_named(copy, call):
    content = load_checkpoint(copy / "checkpoints" / "best.pt")
    options = content["config"]["options"]
    assert not evaluation_data.overlap(train.resolve(options))
    notes = evaluation_data.overlap(train.resolve(options | {"stride": 5}))
    assert "a sample every 5 bars" in notes[0]


def test_the_picture_shows_what_the_numbers_say(run_folder, call, monkeypatch, tmp_path):
    call(run_folder)
    found = json.loads((run_folder / "evaluation.json").read_text())
    figures, save = [], Figure.savefig
    monkeypatch.setattr(
        Figure, "savefig", lambda figure, *a, **k: (figures.append(figure), save(figure, *a, **k))
    )
    with (tmp_path / "a.png").open("wb") as file:
        draw_evaluation(found, file)
    by_title = {axes.get_title(loc="left"): axes for axes in figures[0].axes}
    bars = by_title["Cross-entropy of usefulness (nats)"].patches
    known = (found["losses"][name] for name in ("frequency", "blind", "network", "best"))
    assert [bar.get_width() for bar in bars] == pytest.approx(list(known))
    dots = by_title[f"Calibration: error {found['calibration']['error']:.4f}"].containers[0].lines[0]
    expected = [(part["predicted"], part["observed"]) for part in found["calibration"]["bins"]]
    assert numpy.allclose(dots.get_xydata(), expected)
    cells = by_title["Selected, share of samples"]
    assert [text.get_text() for text in cells.get_yticklabels()] == [
        row["name"] for row in found["indicators"]
    ]
    assert cells.images[0].get_array().shape == (24, 4, 3)
    written = [text.get_text() for text in cells.texts[:96]]
    assert written == [f"{share:.0%}" for row in found["indicators"] for share in row["selected"]]
