"""evaluate.py on a short run: what it prints, writes and draws, and what it refuses in one line."""

import io
import json
import shutil
import sys

import numpy
import pandas
import pytest
import torch
from matplotlib.figure import Figure
from matplotlib.image import imread

from examples.indicator_transformer import evaluate, evaluation_data, train
from examples.indicator_transformer.evaluation_plot import draw_evaluation
from examples.indicator_transformer.generated_bars import generate_market
from examples.indicator_transformer.model import IndicatorTransformer
from snippets.checkpoints import load_checkpoint
from snippets.errors import exit_with_one_line

pytestmark = pytest.mark.unmeasured


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory, one_thread):
    """Train for one epoch of a few steps with the program itself."""
    folder = tmp_path_factory.mktemp("evaluated") / "run"
    words = "--bars 12000 --epochs 1 --batch-size 16 --device cpu --out"
    assert train.PROGRAM.main([*words.split(), str(folder)]) == 0
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


@pytest.mark.program
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
    for words in ("constant frequencies", "the calls alone", "at best", "samples", "rsi (3)", "sma (4)"):
        assert words in out
    assert f"{found['losses']['network']:.4f}" in out
    assert "note       best.pt was chosen by its loss on these samples, so that loss is" in out
    assert not list(run_folder.glob(".*tmp"))
    assert imread(run_folder / "evaluation.png").shape[1] == 1350


def test_checkpoint_gives_the_same_evaluation_in_another_folder(run_folder, call, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(run_folder.parent))
    call(f"~/{run_folder.name}")
    before = json.loads((run_folder / "evaluation.json").read_text())
    code, out, _ = call(run_folder / "checkpoints" / "best.pt", "--out", tmp_path / "new" / "place")
    after = json.loads((tmp_path / "new" / "place" / "evaluation.json").read_text())
    assert code == 0
    assert str(tmp_path / "new" / "place") in out
    assert call(run_folder / "checkpoints" / "last.pt", "--out", tmp_path)[0] == 0
    assert json.loads((tmp_path / "evaluation.json").read_text())["notes"] == []
    assert {**after, "provenance": 0} == {**before, "provenance": 0}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("evaluation.json", '{"checkpoint": "other/checkpoints/best.pt", "samples": 1, "held_out": 1}'),
        ("evaluation.json", "[]"),
        ("evaluation.png", "drawn by hand"),
    ],
)
def test_foreign_file_is_not_replaced(run_folder, call, tmp_path, name, content):
    (tmp_path / name).write_text(content)
    code, _, err = call(run_folder, "--out", tmp_path)
    assert (code, err.count("\n")) == (2, 1)
    assert f"{name} is there already and is no file that this command made; choose another --out" in err
    assert [path.read_text() for path in tmp_path.iterdir()] == [content]


def test_new_generated_bars_are_not_those_of_the_run(run_folder, call, tmp_path):
    code, out, _ = call(run_folder, "--data", "bars", "--out", tmp_path)
    found = json.loads((tmp_path / "evaluation.json").read_text())
    assert code == 0
    assert "all: the network has not learned from these bars" in out
    assert found["notes"] == []  # the checkpoint was chosen by other samples
    assert found["samples"] > 150  # of 200 hours, without the warm-up
    assert found["losses"]["frequency"] > found["losses"]["blind"] > found["losses"]["best"] > 0.1
    assert evaluation_data.NEW_SEED != 0


def test_other_bars_have_no_known_optimum_but_a_baseline(run_folder, call, bars_folder):
    code, out, _ = call(run_folder, "--data", bars_folder, "--out", bars_folder / "out")
    found = json.loads((bars_folder / "out" / "evaluation.json").read_text())
    assert code == 0
    assert found["losses"]["best"] is found["losses"]["blind"] is found["direction"]["best"] is None
    assert found["losses"]["frequency"] > found["losses"]["calls"] > 0
    assert "the calls alone" in out and "best possible" not in out
    assert found["notes"] == ["bars around the clock, 1,440 bars a day; 0 missing within them, 0.00%"]
    assert found["learned"]["BCE, the calls alone"]["stretches"] < 10
    assert "learned    BCE: no verdict against the calls alone: " in out


@pytest.mark.program
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
        (lambda copy: ["~nobody-here/run"], "there is no user nobody-here"),
        (lambda copy: [copy.parent], "holds no run (no folder checkpoints)"),
        (lambda copy: [change_config(copy, system="cifar_optimizers")], "a checkpoint of cifar_optimizers"),
        (lambda copy: [change_config(copy, indicators=["moon"])], "was trained on other readings: moon"),
        (lambda copy: [change_config(copy, data_crc32=1)], "are not those that the network learned from"),
        (lambda copy: [copy, "--data", copy / "config.json", "--out", copy], ".json is no table here; write"),
        (
            lambda copy: [copy, "--data", copy / "checkpoints", "--out", copy],
            "has no file of bars; it needs one",
        ),
        (lambda copy: [copy, "--data", "table", "--out", copy], "--data table has no bars; name bars"),
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


@pytest.fixture(scope="module")
def folder_run(tmp_path_factory, one_thread):
    """Train on a folder with a symbol; return the run folder and the folder with the bars."""
    root = tmp_path_factory.mktemp("folder")
    (root / "bars").mkdir()
    generate_market(6_000, seed=4).bars.table.to_csv(root / "bars" / "ACME.csv")
    words = ["--data", root / "bars", "--epochs", 1, "--batch-size", 16, "--device", "cpu"]
    assert train.PROGRAM.main([str(word) for word in (*words, "--out", root / "run")]) == 0
    return root / "run", root / "bars"


@pytest.mark.parametrize("place", ["bars", "copy"])
def test_copy_of_training_bars_is_refused(folder_run, call, tmp_path, place):
    run, bars = folder_run
    if place == "copy":
        bars = shutil.copytree(bars, tmp_path / "copy")
        (bars / "ACME.csv").rename(bars / "acme.csv")
    code, _, err = call(run, "--data", bars, "--out", tmp_path)
    assert (code, err.count("\n")) == (2, 1)
    assert "all 87 samples are of a symbol and time that the run had bars of; leave out --data" in err


def test_only_new_bars_of_a_newer_download_count(folder_run, call, tmp_path):
    """The first 6,000 of the 9,000 bars have been learned from; other symbols are new at any time."""

    def samples():
        return call(folder_run[0], "--data", tmp_path, "--out", tmp_path / "out")[1]

    table = generate_market(9_000, seed=4).bars.table
    table.to_csv(tmp_path / "ACME.csv")
    assert "samples    49, 88 more are left out: the run had bars of their symbol and time" in samples()
    table.to_csv(tmp_path / "OTHER.csv")
    assert "samples    186, 88 more are left out" in samples()
    (tmp_path / "ACME.csv").unlink()
    assert "samples    137, all: the network has not learned from these bars" in samples()


@pytest.mark.parametrize(
    ("bars", "message"),
    [
        (12_000, "samples are of a symbol and time that the run had bars of"),  # its own, as a file
        (120, "too few bars: with --stride 60, the first sample needs 800"),
    ],
)
def test_bars_that_tell_nothing_are_refused(run_folder, call, tmp_path, bars, message):
    generate_market(bars).bars.table.to_csv(tmp_path / "GENERATED.csv")
    code, _, err = call(run_folder, "--data", tmp_path, "--out", tmp_path)
    assert (code, err.count("\n")) == (2, 1)
    assert message in err


@pytest.mark.parametrize("gone", ["/nowhere/bars", "bars"])
def test_bars_that_are_gone_leave_no_baseline(copy, call, bars_folder, gone):
    options = load_checkpoint(copy / "checkpoints" / "best.pt")["config"]["options"]
    change_config(copy, options=options | {"data": gone, "data_name": "folder"})
    code, out, err = call(copy, "--data", bars_folder, "--out", bars_folder / "out")
    assert (code, err) == (0, "")
    assert f"nothing to take constant frequencies from: cannot read {gone}" in out
    assert "constant frequencies   " not in out
    assert "all; not checked whether the network learned from them" in out
    code, out, _ = call(copy, "--data", "bars", "--out", bars_folder / "out")
    assert (code, "all: the network has not learned from these bars" in out) == (0, True)
    code, _, err = call(copy)
    assert (code, err.count("\n")) == (2, 1)
    assert f"cannot read {gone}" in err and "other bars can be named with --data" in err


@pytest.mark.parametrize("change", [{"depth": 3}, {"lr": None}])
def test_options_of_another_version_are_refused(copy, call, change):
    options = load_checkpoint(copy / "checkpoints" / "best.pt")["config"]["options"] | change
    change_config(copy, options={name: value for name, value in options.items() if value or name != "lr"})
    code, _, err = call(copy)
    assert (code, err.count("\n")) == (2, 1)
    assert f"made by another version of this program: only one of them has --{min(change)}" in err


@pytest.mark.parametrize(
    ("name", "value"),
    [("stride", 0), ("horizon", "x"), ("horizon", -1), ("val_split", 7), ("bars", [1]), ("rows", None)],
)
def test_options_that_nobody_could_type_are_refused(copy, call, name, value):
    options = load_checkpoint(copy / "checkpoints" / "best.pt")["config"]["options"] | {name: value}
    change_config(copy, options=options)
    code, _, err = call(copy)
    assert (code, err.count("\n")) == (2, 1)
    assert f"best.pt was changed: --{name.replace('_', '-')}" in err


def test_facts_that_were_changed_are_not_repeated(copy, call):
    code, out, _ = call(change_config(copy, parameters="x"))
    assert (code, "36,130 parameters" in out) == (0, True)


def test_gaps_can_be_allowed(run_folder, call, tmp_path):
    table = generate_market(3_000, seed=9).bars.table
    table.drop(table.index[1000:1100]).to_csv(tmp_path / "GAPS.csv")
    code, _, err = call(run_folder, "--data", tmp_path, "--out", tmp_path / "out")
    assert code == 2
    allowed = err.split("allow them with ")[1].split()
    assert call(run_folder, "--data", tmp_path, "--out", tmp_path / "out", *allowed)[0] == 0


def test_everything_is_written_before_anybody_stops_reading(run_folder, call, monkeypatch, tmp_path):
    class Closed(io.StringIO):
        def write(self, text):
            raise BrokenPipeError

    monkeypatch.setattr(evaluate, "draw_evaluation", lambda evaluation, file: file.write(b"drawn"))
    monkeypatch.setattr(sys, "stdout", Closed())
    with pytest.raises(BrokenPipeError):
        evaluate.main([str(run_folder), "--out", str(tmp_path), "--device", "cpu"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["evaluation.json", "evaluation.png"]


def test_no_blind_loss_when_prices_alone_are_informative(copy, call, tmp_path):
    options = load_checkpoint(copy / "checkpoints" / "best.pt")["config"]["options"]
    change_config(copy, options=options | {"stride": 50})
    code, out, _ = call(copy, "--data", "bars", "--out", tmp_path)
    found = json.loads((tmp_path / "evaluation.json").read_text())
    assert code == 0
    assert (found["losses"]["blind"], "the calls alone" in out) == (None, False)
    assert found["losses"]["best"] > 0 and "best possible" in out


def test_a_device_without_memory_gets_one_line(run_folder, call, monkeypatch, tmp_path):
    def fail(*arguments):
        raise MemoryError

    monkeypatch.setattr(IndicatorTransformer, "forward", fail)
    code, out, err = call(run_folder, "--out", tmp_path)
    assert (code, out, err) == (1, "", "error: out of memory; try --device cpu, which may have more\n")


def test_neighbouring_samples_that_share_bars_are_named(copy, call):
    content = load_checkpoint(copy / "checkpoints" / "best.pt")
    options = content["config"]["options"]
    minute, day = pandas.Timedelta(minutes=1), pandas.Timedelta(days=1)
    assert not evaluation_data.overlap(train.resolve(options), minute)
    (note,) = evaluation_data.overlap(train.resolve(options | {"data": str(copy), "stride": None}), day)
    assert "a sample every bar, decided by the 20 bars after it" in note
    notes = evaluation_data.overlap(train.resolve(options | {"stride": 5}), minute)
    assert "a sample every 5 bars" in notes[0]


@pytest.mark.program
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
    assert cells.collections[0].get_array().shape == (24, 4, 4)
    written = [text.get_text() for text in cells.texts[:96]]
    assert written == [f"{share:.0%}" for row in found["indicators"] for share in row["selected"]]
