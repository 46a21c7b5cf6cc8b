"""From pictures to a trained network and back: check, train, predict and export, by their programs."""

import csv
import io
import math
import shlex
import shutil
from contextlib import redirect_stdout
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from examples.cifar_optimizers import check_data, export, predict
from examples.cifar_optimizers.data_sources import load_data
from examples.cifar_optimizers.image_data import normalised
from examples.cifar_optimizers.model import ResNet18
from examples.cifar_optimizers.pictures import read_picture
from examples.cifar_optimizers.train import PROGRAM, read_command_line
from examples.cifar_optimizers.trained import load_trained
from examples.programs import exported
from snippets.checkpoints import load_checkpoint
from snippets.digit_pictures import write_digits
from snippets.errors import exit_with_one_line
from tests.examples.cifar_optimizers.data_forms import write_pictures
from tests.examples.program_runs import assert_refused

TINY = shlex.split("--data my_pictures --image-size 8 --width 2 --epochs 2 --device cpu --out run")


@pytest.fixture(scope="module")
def trained(tmp_path_factory, one_thread):
    """Return a folder with the digits as pictures and a run that learned from them, and what that printed."""
    folder = tmp_path_factory.mktemp("trained")
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()) as printed:
        patch.chdir(folder)
        write_digits(Path("my_pictures"))
        assert PROGRAM.main(TINY) == 0
    return SimpleNamespace(folder=folder, out=printed.getvalue())


@pytest.fixture
def call(trained, monkeypatch, capsys):
    """Return a function that calls a program in that folder."""
    monkeypatch.chdir(trained.folder)

    def run(program, *words):
        capsys.readouterr()
        code = exit_with_one_line(program.main, [str(word) for word in words])
        printed = capsys.readouterr()
        return SimpleNamespace(code=code, out=printed.out, err=printed.err)

    return run


@pytest.mark.program
def test_check_and_training_print_the_same_facts(call, trained, tmp_path):
    done = call(check_data, "my_pictures", "--image-size", 8, "--sheet", tmp_path / "sheet.png")
    assert (done.code, done.err) == (0, "")
    assert "pictures   1,438 to learn from, 359 held out\n" in done.out
    assert f"           {'7':<20} {136:>7,} + 43\n" in done.out
    repeated = "0 of 359 held-out pictures are in training, too\n"
    assert f"repeated   {repeated}" in done.out and f"           {repeated}" in trained.out
    sizes = "8×8 pixels in the files\n"
    assert f"sizes      {sizes}" in done.out and f"           {sizes}" in trained.out
    assert call(check_data, "--sheet", tmp_path / "sheet.png").code == 0  # its own file may be replaced
    (tmp_path / "mine.png").write_bytes(b"mine")
    assert_refused(call(check_data, "--sheet", tmp_path / "mine.png"), "mine.png is there already")


@pytest.mark.program
def test_predictions_are_those_of_the_evaluation(call, trained, tmp_path):
    """Pictures are prepared as in training, so the share of right ones is that of the best epoch."""
    out, sheet = tmp_path / "classes.csv", tmp_path / "sheet.png"
    done = call(predict, "run", "my_pictures/test", "--out", out, "--sheet", sheet, "--device", "cpu")
    assert (done.code, done.err) == (0, "")
    content = load_checkpoint(Path("run/checkpoints/best.pt"))
    right = round(content["progress"]["best_score"] * 359)
    assert f"right      {right} of 359 ({right / 359:.2%})" in done.out
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert len(rows) == 359 and rows[0]["file"] == "my_pictures/test/0/0049.png"
    assert sum(row["class"] == Path(row["file"]).parent.name for row in rows) == right
    assert sheet.read_bytes()[:4] == b"\x89PNG"
    data = load_data("my_pictures", 8, download=False, check=True)
    network = load_trained(Path("run"))
    with torch.no_grad():
        shares = network.network(normalised(data.test_images, data.mean, data.std)).softmax(1)
    assert [float(row["probability"]) for row in rows] == pytest.approx(shares.amax(1).tolist(), abs=2e-6)


@pytest.mark.slow
def test_names_and_statistics_are_in_the_checkpoint(trained, monkeypatch):
    monkeypatch.chdir(trained.folder)
    network = load_trained(Path("run"))
    data = load_data("my_pictures", 8, download=False, check=True)
    assert network.names == tuple("0123456789")
    assert torch.equal(network.mean, data.mean) and torch.equal(network.std, data.std)


@pytest.mark.program
def test_older_checkpoints_give_numbers_and_resume(trained, tmp_path, call, monkeypatch):
    """Runs of the digits before there were names: the statistics follow from the data set."""
    monkeypatch.chdir(tmp_path)
    words = shlex.split("--device cpu --width 2 --image-size 8 --max-steps 4 --batch-size 50 --out old")
    assert PROGRAM.main(words) == 0
    new = load_trained(Path("old"))
    for file in Path("old/checkpoints").glob("*.pt"):
        content = torch.load(file, weights_only=True)
        for name in ("class_names", "mean", "std"):
            del content["config"][name]
        torch.save(content, file)
    old = load_trained(Path("old"))
    assert old.names == tuple("0123456789")
    assert torch.allclose(old.mean, new.mean) and torch.allclose(old.std, new.std)
    assert PROGRAM.main(["--resume", "old"]) == 0
    picture = trained.folder / "my_pictures" / "test" / "3"
    assert call(predict, tmp_path / "old", picture, "--device", "cpu").code == 0


@pytest.mark.slow
def test_edited_names_and_statistics_are_not_used(trained, tmp_path):
    shutil.copytree(trained.folder / "run", tmp_path / "run")
    file = tmp_path / "run" / "checkpoints" / "best.pt"
    content = torch.load(file, weights_only=True)
    content["config"] |= {"class_names": ["one"], "mean": [0.0, 1.0], "std": [0.0, 1.0, 1.0]}
    torch.save(content, file)
    network = load_trained(tmp_path / "run")
    assert network.names[9] == "9"
    assert network.std.min() == 1


def test_what_is_wrong_is_one_line(call, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "a.png").write_bytes(b"no picture")
    (tmp_path / "mine.csv").write_text("mine")
    (tmp_path / "b.heic").touch()
    for words, message in (
        (["nowhere", tmp_path], "there is no run folder or checkpoint nowhere"),
        (["my_pictures", tmp_path], "holds no run"),
        (["run", "nowhere"], "there is no picture or folder nowhere"),
        (["run", tmp_path / "empty"], "there is no picture (PNG, JPEG"),
        (["run", tmp_path / "a.png"], "a.png: it is no picture in one of the formats"),
        (["run", tmp_path], "b.heic is a HEIC photo"),
        (["run", tmp_path, "--out", tmp_path / "mine.csv"], "mine.csv is there already"),
        (["run", tmp_path, "--out", "x.txt"], "the name must end in .csv"),
        (["run"], "the following arguments are required"),
    ):
        assert_refused(call(predict, *words), message)


def test_names_of_files_need_not_be_utf8(call, tmp_path):
    write_pictures(tmp_path / "p", {"cat": 1})
    name = b"\xff\x1b,\n.png".decode(errors="surrogateescape")
    (tmp_path / "p" / "cat" / "0.png").rename(tmp_path / "p" / "cat" / name)
    done = call(predict, "run", tmp_path / "p", "--out", tmp_path / "o.csv", "--device", "cpu")
    assert (done.code, done.err, "\x1b" in done.out) == (0, "", False)
    with (tmp_path / "o.csv").open(errors="surrogateescape", newline="") as file:
        assert [Path(row[0]).name for row in csv.reader(file)][1:] == [name]


@pytest.mark.long
@pytest.mark.program
def test_an_exported_network_predicts_the_same(call, tmp_path, monkeypatch):
    monkeypatch.setattr(exported, "ONNX", ("nobody_has_this",))
    done = call(export, "run", "--out", tmp_path / "out")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[-2].endswith("pip install nobody_has_this")
    network = load_trained(Path("run"))
    saved = torch.load(tmp_path / "out" / "network.pt", weights_only=True)
    assert saved["class_names"] == list("0123456789") and saved["mean"] == network.mean.flatten().tolist()
    images = torch.rand(5, 3, 8, 8)
    with torch.no_grad():
        scores = torch.export.load(tmp_path / "out" / "network.pt2").module()(images)
        assert torch.equal(scores, network.network(images))
    assert call(export, "run", "--out", tmp_path / "out").code == 0


def test_unreadable_pictures_are_named_the_others_classified(call, tmp_path, monkeypatch):
    write_pictures(tmp_path / "p", {"3": 2, "other": 3})
    (tmp_path / "p" / "other" / "1.png").write_bytes(b"")
    monkeypatch.setattr(predict, "BATCH", 1)
    words = [tmp_path / "p", tmp_path / "p/3/0.png", "--out", tmp_path / "o.csv", "--device", "cpu"]
    done = call(predict, "run", *words)
    assert (done.code, done.err) == (0, "")
    assert "note       1 unreadable picture (other/1.png: it is no picture in one of" in done.out
    rows = list(csv.DictReader((tmp_path / "o.csv").read_text().splitlines()))
    names = ["3/0.png", "3/1.png", "other/0.png", "other/2.png", "3/0.png"]
    assert [row["file"] for row in rows] == [str(tmp_path / "p" / name) for name in names]
    right = sum(row["class"] == "3" for row in rows if "/3/" in row["file"])
    assert f"right      {right} of 3 (" in done.out  # other/ is no class


def test_the_sheet_has_pictures_from_all_folders(call, trained, tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(predict, "draw_sheet", lambda *arguments: drawn.extend(arguments))
    words = ["--out", tmp_path / "o.csv", "--sheet", tmp_path / "s.png", "--device", "cpu"]
    done = call(predict, "run", "my_pictures/test", *words)
    files = predict.find_pictures([Path("my_pictures/test")])
    rows = list(csv.DictReader((tmp_path / "o.csv").read_text().splitlines()))
    chosen = [number * len(files) // 64 for number in range(64)]
    pixels = [read_picture(files[number], 8).pixels for number in chosen]
    assert all(torch.equal(*pair) for pair in zip(drawn[1], pixels, strict=True))
    assert drawn[2] == [f"{rows[n]['class']}\n{float(rows[n]['probability']):.1%}" for n in chosen]
    assert f"           349 more in {tmp_path / 'o.csv'}\n" in done.out


def test_the_report_counts_and_measures(tmp_path, monkeypatch, capsys):
    """Pictures of (10 · number, 100, 200): every value of the report is known."""
    write_pictures(tmp_path / "train", {"cat": 3, "dog": 1})
    write_pictures(tmp_path / "test", {"cat": 2})
    drawn = []
    monkeypatch.setattr(check_data, "draw_sheet", lambda *arguments: drawn.extend(arguments))
    monkeypatch.setattr(check_data, "PER_CLASS", 2)
    assert check_data.main([str(tmp_path), "--image-size", "8", "--sheet", str(tmp_path / "s.png")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:5] == [
        "pictures   4 to learn from, 2 held out",
        "classes    2; to learn from + held out:",
        f"           {'cat':<20} {3:>7} + 2",
        f"           {'dog':<20} {1:>7} + 0",
    ]
    mean, deviation = 7.5 / 255, math.sqrt((0 + 100 + 400 + 0) / 4 - 7.5**2) / 255
    values = f"mean {mean:.3f}, 0.392, 0.784, deviation {deviation:.3f}, 0.004, 0.004"
    assert f"values     0 to 200; in red, green, blue: {values} (of 0 to 1)" in lines
    assert "sizes      12×9 pixels in the files, cut to squares, resized to 8×8" in lines
    assert "repeated   2 of 2 held-out pictures are in training, too" in lines
    assert "note       no picture is held out of dog" in lines
    assert [int(image[0, 0, 0]) for image in drawn[1]] == [0, 10, 0]
    assert drawn[2] == ["cat", "cat", "dog"]


@pytest.mark.parametrize(("pictures", "batch"), [(24, 40), (38, 62), (39, None)])
def test_the_printed_command_trains_on_few_pictures(tmp_path, capsys, pictures, batch):
    """Of each class, every fifth picture is held out."""
    folder = tmp_path / "my pictures"
    write_pictures(folder, {"cat": pictures, "dog": pictures})
    assert check_data.main([str(folder), "--image-size", "8"]) == 0
    last = shlex.split(capsys.readouterr().out.splitlines()[-1])
    if batch is None:
        assert last[0] == "repeated"
    else:
        assert last[:3] == ["train", "python", "examples/cifar_optimizers/train.py"]
        task = PROGRAM.prepare(read_command_line([*last[3:], "--device", "cpu"]))
        assert (task.samples_per_step, task.steps_per_epoch) == (batch, 1)


@pytest.mark.program
def test_the_options_for_photos_train(tmp_path, capsys):
    """64 pixels at width 16 take about 16 times the operations of 32 at width 8."""
    write_pictures(tmp_path / "photos", {"cat": 10, "dog": 10}, "jpg", width=80, height=70)
    words = shlex.split("--image-size 64 --width 16 --batch-size 8 --max-steps 2 --device cpu --data")
    assert PROGRAM.main([*words, str(tmp_path / "photos"), "--out", str(tmp_path / "run")]) == 0
    assert "64×64 pixels, 2 classes" in capsys.readouterr().out
    counts = []
    for width, size in ((8, 32), (16, 64)):
        with torch.device("meta"), FlopCounterMode(display=False) as counter:
            ResNet18(2, width)(torch.empty(1, 3, size, size))
        counts.append(counter.get_total_flops())
    assert counts[1] / counts[0] == pytest.approx(16, rel=0.02)


@pytest.mark.program
def test_the_page_names_the_last_network(call):
    done = call(predict, "run/checkpoints/last.pt", "my_pictures/test/0", "--device", "cpu")
    assert done.code == 0 and "network    run/checkpoints/last.pt: 10 classes" in done.out


def test_many_classes_are_summed_up(monkeypatch):
    monkeypatch.setattr(check_data, "SHOWN", 2)
    data = load_data("digits", 8, download=False, check=True)
    lines = list(check_data.describe(data))
    counts = data.train_labels.bincount()
    assert lines[5] == f"           and 8 more, with {counts.min()} to {counts.max()}"
    assert lines[6] == "sizes      8×8 pixels" and not any(line.startswith("note") for line in lines)


def test_weights_are_stored_with_what_prepares_pictures(trained, monkeypatch):
    monkeypatch.chdir(trained.folder)
    network = load_trained(Path("run"))
    network = replace(
        network, names=tuple("abcdefghij"), step=7, std=torch.tensor([1.0, 2.0, 3.0]).view(3, 1, 1)
    )
    made = export.export_of(network)
    options = asdict(network.options)
    assert made.content == {
        "network": {"classes": 10, "width": 2},
        "class_names": list("abcdefghij"),
        "image_size": 8,
        "mean": network.mean.flatten().tolist(),
        "std": [1.0, 2.0, 3.0],
        "options": options,
        "step": 7,
    }
    assert made.inputs(3)[0].shape == (3, 3, 8, 8)
    assert made.inputs(1)[0].std() > 0.5  # not zeros, with which many networks agree
    assert {count for (count,) in made.sizes} == {1, 3, 16}


def test_exports_lie_in_the_run_by_default(call, monkeypatch):
    folders = []
    monkeypatch.setattr(export, "check_files", lambda _, folder: folders.append(folder))
    monkeypatch.setattr(export, "write_files", lambda _, folder: folders.append(folder) or [])
    done = call(export, "run")
    assert done.out.startswith("network    run/checkpoints/best.pt, step ")
    assert folders == [Path("run/export")] * 2
    call(export, "run/checkpoints/last.pt", "--out", "elsewhere")
    assert folders[2:] == [Path("elsewhere")] * 2
