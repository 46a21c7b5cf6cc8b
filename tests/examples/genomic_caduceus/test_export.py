"""The export of a classifier: what is written computes what the trained network computes."""

import pytest
import torch
from torch.testing import assert_close

from examples.genomic_caduceus import export
from examples.genomic_caduceus.model import Classifier
from examples.genomic_caduceus.trained_classifier import load_classifier
from snippets.errors import exit_with_one_line
from tests.examples.genomic_caduceus.conftest import train_only
from tests.examples.program_runs import contents

TOKENS = torch.randint(7, 12, (2, 24), generator=torch.Generator().manual_seed(1))


@pytest.fixture
def call(capsys, monkeypatch):
    """Return a function that calls export.py and gives code, output and error; ONNX is not written."""
    monkeypatch.setattr("examples.programs.exported.ONNX", ("no such package",))

    def run(*words):
        capsys.readouterr()
        code = exit_with_one_line(export.main, [str(word) for word in words])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


@train_only
def test_exports_compute_the_scores_of_the_run(run_train, tiny, call, tmp_path, without_curves):
    strands = {"model.config.rcps": "false", "model.conjoin_test": "true"}
    run_train(*tiny(max_steps=2, epochs=1, **strands), out="run")
    code, out, error = call("run", "--batch-size", "2")
    assert (code, error, "note       no ONNX file" in out) == (0, "", True)
    program = torch.export.load(tmp_path / "run/export/classifier.pt2").module()
    probabilities = load_classifier(tmp_path / "run").probabilities(TOKENS)
    assert_close(program(TOKENS).softmax(1), probabilities)
    content = torch.load(tmp_path / "run/export/classifier.pt", weights_only=True)
    assert (content["classes"], content["length"]) == (["background", "motif"], 24)
    assert content["network"]["both_strands"] is True
    network = export.build(**content["network"])
    network.load_state_dict(content["weights"])
    assert torch.equal(network(TOKENS), program(TOKENS))


@train_only
def test_other_computations_and_files_are_refused(
    run_train, tiny, call, tmp_path, without_curves, monkeypatch
):
    run_train(*tiny(max_steps=1, epochs=1), out="run")
    monkeypatch.setattr(Classifier, "conjoined", lambda network, tokens: torch.rand(len(tokens), 2))
    code, _, error = call("run")
    assert (code, error.count("\n")) == (1, 1) and "would not compute what the trained network" in error
    assert not (tmp_path / "run/export").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/classifier.pt").write_text("mine")
    before = contents(tmp_path)
    code, _, error = call("run", "--out", "mine")
    assert (code, contents(tmp_path)) == (2, before) and "no file that this command made" in error
