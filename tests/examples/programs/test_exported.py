"""Exported networks: what is written, what is compared, and what happens without the packages of ONNX."""

from dataclasses import replace

import pytest
import torch
from torch import nn
from torch.export import Dim

from examples.programs import exported
from snippets.errors import RunError, UsageError


def inputs(count):
    """Return inputs (count, 3) of which every row is 1, 2, 3."""
    return (torch.arange(1.0, 4.0).expand(count, 3),)


def line(weight=1.0):
    """Return a network that adds its three inputs, times `weight`: 6 times `weight`."""
    network = nn.Linear(3, 1, bias=False)
    with torch.no_grad():
        network.weight.fill_(weight)
    return network


@pytest.fixture
def export():
    """Return the export of a network that computes 6 for each input."""
    content = {"network": {}, "options": {"seed": 0}}
    varying = {"input": {0: Dim("rows", min=1)}}
    return exported.Export("sum", line(), content, line, inputs, ((3,), (1,), (7,)), varying, "any number")


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_largest_difference_is_a_share(export):
    assert exported.largest_difference(export, line()) == 0
    assert exported.largest_difference(export, line(1.25)) == 0.25
    assert exported.largest_difference(export, line(torch.nan)) == torch.inf
    assert exported.largest_difference(export, lambda rows: line()(rows)[:1]) == torch.inf


def test_missing_packages_are_one_line(export, tmp_path, monkeypatch):
    monkeypatch.setattr(exported, "ONNX", ("torch", "onnx_that_nobody_has", "another_that_nobody_has"))
    lines = exported.write_files(export, tmp_path / "out")
    assert names(tmp_path / "out") == ["sum.pt", "sum.pt2"]
    command = "pip install onnx_that_nobody_has another_that_nobody_has"
    assert lines[2:] == [f"note       no ONNX file; for one: {command}"]
    saved = torch.load(tmp_path / "out" / "sum.pt", weights_only=True)
    assert (saved["options"], saved["weights"]["weight"].tolist()) == ({"seed": 0}, [[1.0, 1.0, 1.0]])


@pytest.mark.parametrize(("weight", "is_close"), [(1 + 5e-5, True), (1 + 5e-4, False)])
def test_onnx_may_differ_by_rounding_only(export, tmp_path, monkeypatch, weight, is_close):
    def write(path, _):
        path.write_bytes(b"onnx")
        return line(weight)

    monkeypatch.setattr(exported, "ONNX", ("torch",))
    monkeypatch.setattr(exported, "write_onnx", write)
    if is_close:
        assert exported.write_files(export, tmp_path / "out")[3].endswith(
            "at most 5e-05 of the largest output"
        )
        assert names(tmp_path / "out") == ["sum.onnx", "sum.pt", "sum.pt2"]
    else:
        with pytest.raises(RunError, match=r"sum\.onnx would not compute"):
            exported.write_files(export, tmp_path / "out")
        assert names(tmp_path) == []


def test_an_older_onnx_file_does_not_stay(export, tmp_path, monkeypatch):
    (tmp_path / "sum.onnx").write_bytes(b"older")
    monkeypatch.setattr(exported, "ONNX", ("nobody_has_this",))
    exported.write_files(export, tmp_path)
    assert names(tmp_path) == ["sum.pt", "sum.pt2"]


def test_files_of_others_are_not_replaced(export, tmp_path, monkeypatch):
    monkeypatch.setattr(exported, "ONNX", ("nobody_has_this",))
    (tmp_path / "sum.onnx").write_bytes(b"mine")
    with pytest.raises(UsageError, match=r"sum\.onnx is there already"):
        exported.check_files(export, tmp_path)
    (tmp_path / "sum.onnx").unlink()
    exported.write_files(export, tmp_path)
    exported.check_files(export, tmp_path)  # of the same run
    with pytest.raises(UsageError, match=r"sum\.pt is there already"):
        exported.check_files(replace(export, content={"options": {"seed": 1}}), tmp_path)


def test_onnx_runtime_computes_the_same(export, tmp_path):
    for package in exported.ONNX:
        pytest.importorskip(package, reason="the packages of ONNX, which are optional, are not installed")
    printed = exported.write_files(export, tmp_path)
    assert names(tmp_path) == ["sum.onnx", "sum.pt", "sum.pt2"]
    assert "ONNX Runtime" in printed[2]
