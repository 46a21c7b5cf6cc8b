"""What predict.py says about new bars, against a direct computation, and what it refuses."""

import io
import os
import sys

import numpy
import pandas
import pytest
import torch

from examples.indicator_transformer import predict, train
from examples.indicator_transformer.bars import read_bars
from examples.indicator_transformer.context_features import CONTEXT, compute_context
from examples.indicator_transformer.generated_bars import generate_market
from examples.indicator_transformer.history import WARM_UP
from examples.indicator_transformer.indicators import INDICATORS, SMALL, compute_indicators
from examples.indicator_transformer.model import SIZES, IndicatorTransformer
from examples.indicator_transformer.prediction import TrainedNetwork, cut_periods, load_network
from examples.indicator_transformer.prediction import predict as predict_bars
from snippets.checkpoints import load_checkpoint, load_weights
from snippets.errors import exit_with_one_line

LAST = 7


@pytest.fixture(scope="module")
def bars_file(tmp_path_factory):
    """Return a CSV file with some bars more than the warm-up needs."""
    path = tmp_path_factory.mktemp("bars") / "NEW.csv"
    generate_market(WARM_UP + 120, seed=5).bars.table.to_csv(path)
    return path


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory, bars_file):
    """Train a tiny network with the program itself, then let it select about half of the indicators.

    After so few steps it selects none. Its selector gets a threshold in the midst of its own logits.
    """
    folder = tmp_path_factory.mktemp("run") / "run"
    words = ["--bars", 10_000, "--epochs", 1, "--batch-size", 16, "--device", "cpu", "--out", folder]
    assert exit_with_one_line(train.PROGRAM.main, [str(word) for word in words]) == 0
    path = folder / "checkpoints" / "last.pt"
    chance = predict_bars(load_network(path), read_bars(bars_file), LAST, torch.device("cpu")).chance
    content = load_checkpoint(path)
    content["model"]["selector.2.bias"] -= float(numpy.median(numpy.log(chance / (1 - chance))))
    torch.save(content, path)
    return path


@pytest.fixture
def call(capsys):
    """Return a function that calls predict.py and returns exit code, output and errors."""

    def run(*words):
        code = exit_with_one_line(predict.main, [str(word) for word in words])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


@pytest.fixture
def refused(call):
    """Return a function that asserts that predict.py ends with one line with the given parts, and code 2."""

    def run(words, *parts, code=2):
        result, out, err = call(*words)
        assert (result, out, err.count("\n")) == (code, "", 1)
        for part in parts:
            assert str(part) in err, err

    return run


def directly(checkpoint, bars_file):
    """Return chances, weights of the selected indicators and direction of the last bars, bar by bar."""
    table = read_bars(bars_file).table
    model = IndicatorTransformer(len(SMALL), len(CONTEXT), SIZES["small"]).eval()
    load_weights(model, checkpoint)
    values, calls = compute_indicators(table, SMALL)
    context = compute_context(table)
    chances, weights, directions = [], [], []
    for bar in range(len(table) - LAST, len(table)):
        with torch.no_grad():
            logits, weight = model(torch.tensor(values[bar][None]), torch.tensor(context[bar][None]))
        chance = 1 / (1 + numpy.exp(-logits[0].double().numpy()))
        kept = numpy.where(chance > 0.5, weight[0].double().numpy(), 0)
        kept /= kept.sum() or 1
        chances.append(chance)
        weights.append(kept)
        directions.append((kept * calls[bar]).sum())
    return numpy.array(chances), numpy.array(weights), numpy.array(directions)


def test_prediction_is_what_a_direct_computation_gives(checkpoint, bars_file):
    network = load_network(checkpoint)
    found = predict_bars(network, read_bars(bars_file), LAST, torch.device("cpu"))
    chances, weights, directions = directly(checkpoint, bars_file)
    numpy.testing.assert_allclose(found.chance, chances, atol=1e-5)
    numpy.testing.assert_allclose(found.weights, weights, atol=1e-5)
    numpy.testing.assert_allclose(found.direction, directions, atol=1e-5)
    assert 2 < (weights > 0).sum(1).mean() < 22  # neither all nor none: the comparison says something
    assert [indicator.name for indicator in network.indicators] == [indicator.name for indicator in SMALL]
    assert not network.model.training


def test_later_bars_change_nothing(checkpoint, bars_file, tmp_path, call):
    text = bars_file.read_text().splitlines(keepends=True)
    earlier = tmp_path / "EARLIER.csv"
    earlier.write_text("".join(text[:-50]))
    tables = []
    for path, last in ((earlier, 10), (bars_file, 60)):
        out = tmp_path / f"{path.stem}_out.csv"
        assert call(checkpoint, path, "--last", last, "--out", out)[0] == 0
        tables.append(pandas.read_csv(out, index_col="timestamp").iloc[:10])
    pandas.testing.assert_frame_equal(*tables, rtol=0, atol=1e-5)
    assert tables[0]["direction"].nunique() > 5


def test_what_is_printed(checkpoint, bars_file, call):
    code, out, err = call(checkpoint, bars_file, "--last", LAST, "--device", "cpu")
    assert (code, err) == (0, "")
    _, weights, directions = directly(checkpoint, bars_file)
    lines = out.splitlines()
    assert lines[0] == f"network    {checkpoint}, 24 indicators"
    assert lines[1] == (
        f"bars       NEW: {WARM_UP + 120:,}, every 1 minute; "
        "times are as in the file, which names no time zone"
    )
    assert lines[2] == "device     cpu (as requested)"
    assert "no investment advice" in lines[-1]
    bars = [number for number, line in enumerate(lines) if line.startswith("2025-")]
    times = read_bars(bars_file).table.index[-LAST:].strftime("%Y-%m-%d %H:%M")
    for number, time, weight, direction in zip(bars, times, weights, directions, strict=True):
        kept = numpy.flatnonzero(weight)
        word = "up" if direction > 0 else "down"
        expected = f"{time}  {word}, {direction:+.2f}: the weighted mean of {len(kept)} selected indicators"
        assert lines[number] == expected
        listed = lines[number + 1 : number + 1 + len(kept)]
        assert {line.split()[0] for line in listed} == {SMALL[position].name for position in kept}
        found = [float(line.split("weight ")[1].split()[0]) for line in listed]
        assert found == sorted(found, reverse=True)
        assert sum(found) == pytest.approx(1, abs=1e-3 * len(kept))
        assert len({line.index("weight ") for line in listed}) == 1  # columns are aligned


@pytest.mark.parametrize(
    ("first", "note"),
    [("2025-01-01 00:30", "day, week"), ("2025-01-01", "week"), ("2025-01-06", None)],  # Wednesday, Monday
)
def test_periods_that_began_before_the_file_are_named(checkpoint, tmp_path, call, first, note):
    table = generate_market(12_000, seed=5).bars.table.loc[first:].iloc[: WARM_UP + 60]
    table.to_csv(tmp_path / "NEW.csv")
    out = call(checkpoint, tmp_path / "NEW.csv")[1]
    notes = [line for line in out.splitlines() if line.startswith("note       the file")]
    named = f"note       the file begins within the {note}: VWAPs anchored there would read differently with "
    assert notes == ([f"{named}earlier bars"] if note else [])


def test_a_network_of_generated_bars_says_so(checkpoint, bars_file, tmp_path, call):
    note = "note       the network learned from generated bars: about those of a market it knows nothing\n"
    assert note in call(checkpoint, bars_file)[1]
    real = altered(checkpoint, tmp_path / "r.pt", lambda config: config["options"].update(data_name="goog"))
    code, out, _ = call(real, bars_file)
    assert (code, "learned from generated" in out) == (0, False)


def test_longer_file_changes_only_readings_of_named_periods():
    """The file begins at noon on a Wednesday, the 15th; the bars that are looked at are of the next day."""
    table = generate_market(30_000, seed=5).bars.table
    longer = table.loc["2025-01-01":"2025-01-16 13:00"]
    shorter = longer.loc["2025-01-15 12:00":]
    network = TrainedNetwork(None, list(INDICATORS), pandas.Timedelta(minutes=1))
    assert cut_periods(network, shorter, 1) == ["week", "month", "quarter", "year"]
    assert cut_periods(network, longer, 1) == []  # a new week has begun; the rest begins with the year
    values = [compute_indicators(part, INDICATORS)[0][-1] for part in (shorter, longer)]
    anchored = {"week", "month", "quarter", "year", "week_high", "week_low"}
    differing = {
        indicator.name
        for indicator, one, other in zip(INDICATORS, *values, strict=True)
        if abs(one - other) > 0.05 and indicator.family == "anchored_vwap"
    }
    assert {f"avwap_{anchor}" for anchor in ("week", "month", "quarter", "year")} <= differing
    assert all(any(name.startswith(f"avwap_{anchor}") for anchor in anchored) for name in differing)


def test_the_file_has_a_row_per_bar(checkpoint, bars_file, tmp_path, call):
    out = tmp_path / "out.csv"
    call(checkpoint, bars_file, "--out", out)
    assert f"written    {out}: 7 rows" in call(checkpoint, bars_file, "--last", LAST, "--out", out)[1]
    table = pandas.read_csv(out, index_col="timestamp")
    _, weights, directions = directly(checkpoint, bars_file)
    assert list(table.columns[2:]) == [f"weight_{indicator.name}" for indicator in SMALL]
    numpy.testing.assert_allclose(table.iloc[:, 2:], weights, atol=1e-5)
    numpy.testing.assert_allclose(table["direction"], directions, atol=1e-5)
    assert table["selected"].tolist() == (weights > 0).sum(1).tolist()
    times = pandas.to_datetime(table.index, format="%Y-%m-%dT%H:%M:%SZ")
    assert list(times) == list(read_bars(bars_file).table.index[-LAST:])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv"]  # no temporary file is left


@pytest.mark.parametrize(
    ("direction", "selected", "words"),
    [
        (0.5, 3, "up, +0.50: the weighted mean of 3 selected indicators"),
        (-0.25, 2, "down, -0.25: the weighted mean of 2 selected indicators"),
        (0.0, 2, "neither up nor down, +0.00: the weighted mean of 2 selected indicators"),
        (0.0, 0, "no direction: no indicator is selected"),
    ],
)
def test_directions_in_words(direction, selected, words):
    assert predict.direction_in_words(direction, selected) == words


def altered(checkpoint, path, change):
    """Write a copy of the checkpoint in which `change` has changed the config."""
    content = load_checkpoint(checkpoint)
    change(content["config"])
    torch.save(content, path)
    return path


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        (lambda config: config.update(system="cifar_optimizers"), ["cifar_optimizers"]),
        (lambda config: config["indicators"].__setitem__(3, "ichimoku"), ["ichimoku there, nothing in this"]),
        (lambda config: config["context"].__setitem__(0, "moon"), [f"moon there, {CONTEXT[0]} in this"]),
        (lambda config: config["context"].pop(), [f"nothing there, {CONTEXT[-1]} in this"]),
        (lambda config: config["indicators"].pop(), ["the checkpoint is of a network of another size"]),
        (lambda config: config.pop("interval"), ["no 'interval'"]),
        (lambda config: config["options"].update(size="huge"), ["no 'huge'"]),
        *[
            (lambda config, name=name, value=value: config.update({name: value}), [])
            for name in ("options", "indicators", "context", "interval")
            for value in (None, 7, [None], {"a": 1}, "soon", "NaT", torch.ones(2))
        ],
        (lambda config: config["options"].update(size=[]), ["does not say on what it was trained"]),
    ],
)
def test_checkpoints_of_something_else(checkpoint, bars_file, tmp_path, refused, change, parts):
    refused([altered(checkpoint, tmp_path / "other.pt", change), bars_file], *parts)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_no_forecast_comes_from_weights_that_are_no_numbers(checkpoint, bars_file, tmp_path, refused, value):
    content = load_checkpoint(checkpoint)
    content["model"]["selector.0.bias"][0] = value
    torch.save(content, tmp_path / "broken.pt")
    refused(
        [tmp_path / "broken.pt", bars_file],
        "broken.pt are not numbers: selector.0.bias holds NaN or infinity",
    )


def test_no_forecast_comes_from_weights_that_are_too_large(checkpoint, bars_file, tmp_path, refused):
    content = load_checkpoint(checkpoint)
    for weights in content["model"].values():
        weights.fill_(1e30)
    torch.save(content, tmp_path / "huge.pt")
    refused([tmp_path / "huge.pt", bars_file], "the network computes NaN or infinity, its weights are too")


class Payload:
    """Creates a file when it is unpickled by something careless."""

    def __reduce__(self):
        return os.mkdir, ("executed",)


def test_a_checkpoint_is_never_executed(bars_file, tmp_path, monkeypatch, refused):
    monkeypatch.chdir(tmp_path)
    torch.save({"model": Payload(), "optimizers": [], "step": 0, "config": {}}, "evil.pt")
    refused(["evil.pt", bars_file], "evil.pt", "holds more than weights and numbers")
    assert not (tmp_path / "executed").exists()


def test_files_that_are_missing_or_damaged(checkpoint, bars_file, tmp_path, refused):
    refused([tmp_path / "absent.pt", bars_file], "there is no checkpoint", tmp_path / "absent.pt")
    refused([checkpoint, tmp_path / "absent.csv"], tmp_path / "absent.csv", "No such file")
    (tmp_path / "half.pt").write_bytes(checkpoint.read_bytes()[:5000])
    refused([tmp_path / "half.pt", bars_file], "half.pt", "damaged")
    out = tmp_path / "absent" / "out.csv"
    refused([checkpoint, bars_file, "--out", out], "cannot write", "No such file or directory", code=1)


def test_home_folders_are_expanded(checkpoint, bars_file, tmp_path, monkeypatch, call, refused):
    monkeypatch.setenv("HOME", str(bars_file.parent))
    code, out, _ = call(checkpoint, "~/NEW.csv", "--out=~/out.csv")
    assert (code, sum(line.startswith("2025-") for line in out.splitlines())) == (
        0,
        1,
    )  # one bar without --last
    assert (bars_file.parent / "out.csv").exists()
    refused([checkpoint, "~nobody-here/NEW.csv"], "there is no user nobody-here")


def test_too_few_bars_and_those_of_another_interval(checkpoint, bars_file, tmp_path, refused, call):
    assert call(checkpoint, bars_file, "--last", 120)[0] == 0
    refused([checkpoint, bars_file, "--last", 121], f"{WARM_UP + 121} needed, {WARM_UP + 120} in {bars_file}")
    table = generate_market(WARM_UP + 60).bars.table
    table.index = pandas.date_range("2020-01-01", periods=len(table), freq="5min", name="timestamp")
    table.to_parquet(tmp_path / "SLOW.parquet")
    refused([checkpoint, tmp_path / "SLOW.parquet"], "every 5 minutes", "learned from bars every 1 minute")


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--last", "0"], "--last: must be a whole number from 1"),
        (["--device", "tpu"], "unknown device 'tpu'"),
        (["--out", "result.txt"], "--out result.txt: the name must end in .csv"),
        (["--lst", "1"], "unknown option '--lst'"),
    ],
)
def test_options_that_are_refused(checkpoint, bars_file, refused, words, part):
    refused([checkpoint, bars_file, *words], part)


def test_the_bars_are_never_overwritten(checkpoint, bars_file, tmp_path, refused):
    """Not under another name either, as acme.csv is ACME.csv on a Mac."""
    before = bars_file.read_bytes()
    os.link(bars_file, tmp_path / "new.csv")
    for out in (bars_file, tmp_path / "new.csv"):
        refused(
            [checkpoint, bars_file, "--out", out], "is there already and is no file that this command made"
        )
    assert bars_file.read_bytes() == before


def test_the_file_is_written_before_anybody_stops_reading(checkpoint, bars_file, tmp_path, monkeypatch):
    class Closed(io.StringIO):
        def write(self, text):
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", Closed())
    with pytest.raises(BrokenPipeError):
        predict.main([str(word) for word in (checkpoint, bars_file, "--out", tmp_path / "out.csv")])
    assert len(pandas.read_csv(tmp_path / "out.csv")) == 1


@pytest.mark.parametrize(
    ("interval", "times"),
    [("30s", ["11:59:30", "12:00:00"]), ("100ms", ["11:59:59.900000", "12:00:00"])],
)
def test_bars_of_less_than_a_minute_show_their_seconds(checkpoint, tmp_path, call, interval, times):
    fast = altered(checkpoint, tmp_path / "fast.pt", lambda config: config.update(interval=interval))
    table = generate_market(WARM_UP + 60).bars.table
    table.index = pandas.date_range(
        end="2025-01-07 12:00", periods=len(table), freq=interval, name="timestamp"
    )
    table.to_parquet(tmp_path / "FAST.parquet")
    code, out, _ = call(fast, tmp_path / "FAST.parquet", "--last", 2, "--out", tmp_path / "out.csv")
    assert code == 0
    lines = [line for line in out.splitlines() if line.startswith("2025-")]
    assert [line.split()[1] for line in lines] == times
    written = pandas.to_datetime(pandas.read_csv(tmp_path / "out.csv")["timestamp"], format="ISO8601")
    assert list(written.dt.tz_localize(None)) == list(table.index[-2:])


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        (MemoryError(), "error: out of memory; lower --last, or try --device cpu"),
        (
            NotImplementedError("The operator 'aten::gelu' is not currently implemented for the MPS device."),
            "error: MPS has no operator 'gelu'",
        ),
    ],
)
def test_a_device_that_fails_is_explained(checkpoint, bars_file, monkeypatch, call, failure, message):
    def fail(*arguments):
        raise failure

    monkeypatch.setattr(IndicatorTransformer, "forward", fail)
    code, out, err = call(checkpoint, bars_file)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(message)


def test_help_says_what_it_is_not(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["predict.py", "--help"])
    with pytest.raises(SystemExit):
        predict.main(["--help"])
    assert "no investment advice" in " ".join(capsys.readouterr().out.split())
