"""From pictures to a trained network and back: check, train, predict and export, by their programs."""

import csv
import io
import shlex
import shutil
from contextlib import redirect_stdout
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from examples.cifar_optimizers import check_data, export, predict
from examples.cifar_optimizers.data_sources import load_data
from examples.cifar_optimizers.image_data import network_input
from examples.cifar_optimizers.train import PROGRAM
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
        shares = network.network(network_input(data, data.test_images, augment=False)).softmax(1)
    assert [float(row["probability"]) for row in rows] == pytest.approx(shares.amax(1).tolist(), abs=2e-6)


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
        (["run", tmp_path / "empty"], "there is no picture in"),
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
