"""Exported networks: the averaged weights, programs of any size, and a file that is wrong is found."""

import contextlib
import io
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from examples.floorplan_diffusion import export
from examples.floorplan_diffusion.edge_network import EdgeNetwork
from examples.floorplan_diffusion.node_network import NodeNetwork
from examples.floorplan_diffusion.trained import EDGES, NODES
from examples.programs.exported import outputs
from snippets.checkpoints import load_checkpoint
from snippets.errors import exit_with_one_line
from tests.examples.program_runs import assert_refused, contents

WITHOUT_US = """
import sys, torch
for program, expected in torch.load(sys.argv[1]).items():
    found = torch.export.load(program).module()(*expected["inputs"])
    found = (found,) if isinstance(found, torch.Tensor) else found
    print(all(torch.equal(*both) for both in zip(found, expected["outputs"], strict=True)))
print({"examples", "snippets"} & {name.partition(".")[0] for name in sys.modules})
"""


@pytest.fixture(scope="module")
def exported(tiny_runs, tmp_path_factory):
    """Return a folder with runs of both stages, exported with no option, and what that printed.

    An export takes seconds, so the tests that only read its files share them.
    """
    folder = shutil.copytree(tiny_runs, tmp_path_factory.mktemp("exported") / "here")
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()) as printed:
        patch.chdir(folder)
        patch.setattr("examples.programs.exported.ONNX", ("no such package",))  # test_exported.py writes one
        code = export.main([])
    return SimpleNamespace(folder=folder, code=code, out=printed.getvalue(), err="")


@pytest.fixture
def call(both_stages, capsys):
    """Return a function that calls export.py where both stages have a run."""

    def run(*words):
        capsys.readouterr()
        code = exit_with_one_line(export.main, [str(word) for word in words])
        printed = capsys.readouterr()
        return SimpleNamespace(code=code, out=printed.out, err=printed.err)

    return run


def written(outcome):
    """Return the files that are said to be written; all must be there, and nothing must be wrong."""
    assert (outcome.code, outcome.err) == (0, "")
    lines = [line for line in outcome.out.splitlines() if line.startswith("written ")]
    files = [line.removeprefix("written").strip().partition(":")[0] for line in lines]
    assert all(Path(file).is_file() for file in files)
    return files


def in_folder(stage, *names):
    """Return the paths of files in the folder export/ of the run of a stage."""
    return [str(stage.runs / "first" / "export" / name) for name in names]


@pytest.mark.long
def test_with_no_option_the_newest_run_of_each_stage(exported, monkeypatch):
    monkeypatch.chdir(exported.folder)
    of_nodes, of_edges = in_folder(NODES, "nodes.pt", "nodes.pt2"), in_folder(EDGES, "edges.pt", "edges.pt2")
    assert written(exported) == of_nodes + of_edges
    assert exported.out.startswith(
        f"stage 1    {NODES.runs}/first/checkpoints/best.pt, step {best_of(NODES)['step']}\n"
    )
    assert "any number of plans, corners and pairs\n" in exported.out
    for stage in (NODES, EDGES):
        names = {path.name for path in (stage.runs / "first" / "export").iterdir()}
        assert names in ({"nodes.pt", "nodes.pt2"}, {"edges.pt", "edges.pt2"})  # nothing temporary is left


@pytest.mark.long
def test_one_stage_and_another_folder(call):
    assert written(call("--edges", "--out", "away")) == ["away/edges.pt", "away/edges.pt2"]
    last = NODES.runs / "first" / "checkpoints" / "last.pt"
    assert written(call("--nodes", last, "--out", "away")) == ["away/nodes.pt", "away/nodes.pt2"]


def best_of(stage):
    """Return the best checkpoint of the run of a stage."""
    return load_checkpoint(stage.runs / "first" / "checkpoints" / "best.pt")


@pytest.mark.long
def test_exported_weights_are_plain_and_averaged_for_nodes(exported, monkeypatch):
    monkeypatch.chdir(exported.folder)
    for stage, network, name in ((NODES, NodeNetwork, "nodes.pt"), (EDGES, EdgeNetwork, "edges.pt")):
        content, saved = torch.load(*in_folder(stage, name), weights_only=True), best_of(stage)
        assert content["weights"].keys() == network(**content["network"]).state_dict().keys()
        for key, weight in content["weights"].items():
            assert torch.equal(weight, saved["model"][f"{stage.prefix}{key}"])
        assert content["options"] == saved["config"]["options"]
        assert (content["step"], content["places"]) == (saved["step"], saved["config"]["places"])
    weights = best_of(NODES)["model"]
    first = "noise_xy.0.weight"
    assert not torch.equal(weights[f"average.{first}"], weights[f"network.{first}"])


@pytest.mark.program
@pytest.mark.unmeasured
def test_programs_compute_the_same_without_our_code(exported, monkeypatch, tmp_path, one_thread):
    monkeypatch.chdir(exported.folder)
    expected = {}  # by program
    for form, numbers in zip(export.FORMS, [(1, 53), (7, 2)], strict=True):
        weights, program = in_folder(form.stage, f"{form.name}.pt", f"{form.name}.pt2")
        content = torch.load(weights, weights_only=True)
        network = form.network(**content["network"])
        network.load_state_dict(content["weights"])
        inputs = form.inputs(*numbers)
        with torch.no_grad():
            expected[program] = {"inputs": inputs, "outputs": outputs(network, inputs)}
        assert all(output.isfinite().all() for output in expected[program]["outputs"])
    torch.save(expected, tmp_path / "expected.pt")
    done = subprocess.run(
        [sys.executable, "-I", "-c", WITHOUT_US, tmp_path / "expected.pt"],
        env=one_thread,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "True\nTrue\nset()\n"), done.stderr


@pytest.mark.parametrize("of", ["torch.load", "torch.export.load"])
def test_a_file_with_another_weight_is_found(call, monkeypatch, of):
    """The smallest change of a single number, after the file was written."""
    module = torch if of == "torch.load" else torch.export
    original = module.load

    def damaged(path, **options):
        content = original(path, **options)
        if Path(path).suffix not in (".pt", ".pt2") or "export" not in Path(path).parts:
            return content
        weights = content["weights"] if isinstance(content, dict) else content.state_dict
        bias = weights["noise_xy.4.bias"]
        bias.data[0] = torch.nextafter(bias.data[0], torch.tensor(torch.inf))
        return content

    monkeypatch.setattr(module, "load", damaged)
    done = call("--nodes")
    (path,) = in_folder(NODES, "nodes.pt" if module is torch else "nodes.pt2")
    assert (done.code, done.out) == (1, "")
    message = "would not compute what the trained network computes; nothing is written"
    assert done.err == f"error: {path} {message}\n"
    assert not Path(path).parent.exists()


def test_networks_that_are_no_numbers_are_not_exported(call):
    path = NODES.runs / "first" / "checkpoints" / "best.pt"
    content = torch.load(path, weights_only=True)
    content["model"]["average.noise_xy.4.bias"][0] = torch.nan
    torch.save(content, path)
    message = f"weights in {path} are not numbers: average.noise_xy.4.bias holds NaN or infinity"
    assert_refused(call("--nodes"), message)
    assert not (NODES.runs / "first" / "export").exists()


def test_what_is_wrong_is_one_line(call, tmp_path):
    for words, message in (
        (["--nodes", "nowhere"], "there is no run folder or checkpoint nowhere"),
        (["--nodes", EDGES.runs / "first"], "floorplan_diffusion/train_edges"),
        (["runs"], "unknown option 'runs'"),
        (["--node"], "unknown option '--node'"),
    ):
        assert_refused(call(*words), message)
    shutil.rmtree(EDGES.runs)
    assert_refused(call(), "there is no trained run of stage 2")
    assert not (NODES.runs / "first" / "export").exists()  # both were looked for before anything was written
    (tmp_path / "file").touch()
    done = call("--nodes", "--out", tmp_path / "file")
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert done.err.startswith(f"error: cannot write to {tmp_path}/file: ")
    assert "choose another --out" in done.err


@pytest.mark.long
def test_the_export_of_another_run_is_not_replaced(both_stages, call, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    for name, content in (("nodes.pt", b"mine"), ("nodes.pt2", b"mine"), ("edges.pt", None)):
        if content is None:
            torch.save({"weights": {}, "options": {}}, out / name)
        else:
            (out / name).write_bytes(content)
        stage = f"--{name.partition('.')[0]}"
        before = contents(out)
        assert_refused(call(stage, "--out", out), f"{name} is there already and is no file that this command")
        assert contents(out) == before
        (out / name).unlink()
    for _ in range(2):
        assert call("--edges", "--out", out).code == 0
