"""The command, the report and the pytest plugin, as their users meet them."""

import os
import subprocess
import sys

import pytest
from simulated_mps.__main__ import main

SCRIPT = """
import sys
import torch

print("arguments", sys.argv[1:])
layer = torch.nn.Linear(4, 3).to("mps")
scores = layer(torch.ones(2, 4, device="mps"))
print(scores.sum().item() > 0, scores.cpu().shape)
query = torch.randn(1, 2, 5, 4, device="mps", requires_grad=True)
torch.nn.functional.scaled_dot_product_attention(query, query, query).sum().backward()
"""


@pytest.fixture
def run(tmp_path):
    """Return a function that runs a script, given as text, under the command."""

    def call(text, *words, before=(), **variables):
        script = tmp_path / "script.py"
        script.write_text(text)
        command = [sys.executable, "-m", "simulated_mps", *before, str(script), *words]
        environment = {**os.environ, **variables}
        return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)

    return call


def test_a_script_runs_unchanged_and_a_report_follows(run):
    done = run(SCRIPT, "--epochs", "2")
    assert done.returncode == 0, done.stderr
    assert "arguments ['--epochs', '2']" in done.stdout
    assert "simulated MPS, operators of PyTorch 2.13" in done.stderr
    assert "waits for one number (.item(), float(), if tensor): 1" in done.stderr
    assert "copies from MPS to the CPU: 1" in done.stderr
    assert "attention with gradients, on MPS without a fast kernel: 1" in done.stderr
    assert "MISSING" not in done.stderr
    assert "aten::addmm.out" not in done.stderr


@pytest.mark.long
def test_every_operator_is_listed_on_request(run):
    done = run(SCRIPT, before=["--operators"])
    assert done.returncode == 0, done.stderr
    assert "\n            1  aten::addmm.out\n" in done.stderr


def test_missing_operator_ends_script_and_is_reported(run):
    done = run("import torch\ntorch.linalg.eig(torch.eye(2, device='mps'))")
    assert done.returncode == 1
    assert "NotImplementedError: The operator 'aten::linalg_eig' is not currently implemented" in done.stderr
    assert "MISSING      aten::linalg_eig (1 calls)" in done.stderr


def test_the_fallback_variable_counts_instead(run):
    text = "import torch\nfor _ in range(3): print(torch.linalg.eig(torch.eye(2, device='mps'))[0].device)"
    done = run(text, PYTORCH_ENABLE_MPS_FALLBACK="1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["mps:0"] * 3
    assert done.stderr.count("will fall back to run on the CPU") == 1  # one warning per process
    assert "fell back    aten::linalg_eig (3 calls)" in done.stderr


@pytest.mark.parametrize(
    ("release", "runs"),
    [
        ("2.12", False),
        *(
            pytest.param(*other, marks=pytest.mark.long)
            for other in (("2.9", False), ("2.13", True), ("2.15", True))
        ),
    ],
)
def test_another_release_has_other_operators(run, release, runs):
    """The gradient of cdist got its kernel in 2.13."""
    points = "torch.ones(2, 3, device='mps', requires_grad=True)"
    done = run(
        f"import torch\ntorch.cdist({points}, {points}).sum().backward()", before=["--as-torch", release]
    )
    assert f"operators of PyTorch {release}" in done.stderr
    assert (done.returncode == 0) == runs
    assert ("MISSING      aten::_cdist_backward (1 calls)" in done.stderr) == (not runs)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["missing.py"], "error: there is no script missing.py"),
        (["--as-torch", "1.7", __file__], "error: --as-torch 1.7: there are tables for 2.9, 2.10, 2.11"),
    ],
)
def test_mistakes_get_one_line(capsys, words, message):
    assert main(words) == 2
    said = capsys.readouterr().err
    assert said.startswith(message)
    assert said.count("\n") == 1


@pytest.mark.long  # another code is returned by the next test
@pytest.mark.parametrize(("end", "code"), [("sys.exit(3)", 3), ("sys.exit()", 0), ("sys.exit('no')", 1)])
def test_the_exit_code_is_the_scripts(run, end, code):
    assert run(f"import sys, torch\ntorch.ones(1, device='mps') + 1\n{end}").returncode == code


@pytest.mark.long
def test_script_without_operators_fails_unless_allowed(run):
    text = "import torch\ntorch.ones(3)"
    failed = run(text)
    assert failed.returncode == 1
    assert failed.stderr.splitlines()[-1].startswith("error: no operator ran on the device")
    allowed = run(text, before=["--allow-no-operators"])
    assert allowed.returncode == 0
    assert "error" not in allowed.stderr
    assert run("raise SystemExit(7)").returncode == 7


def test_copy_to_the_device_is_enough(run):
    """That a program moves its tensors may be all that is tested."""
    assert run("import torch\ntorch.ones(3).to('mps')").returncode == 0


@pytest.fixture
def run_pytest(tmp_path):
    """Return a function that runs pytest, with the plugin, on a file of tests given as text."""

    def call(text, *words):
        (tmp_path / "test_it.py").write_text(f"import pytest, torch\n{text}")
        command = [sys.executable, "-m", "pytest", "-p", "simulated_mps.pytest_plugin"]
        command += ["-p", "no:cacheprovider", *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    return call


ON_THE_DEVICE = """
@pytest.mark.parametrize("number", range(4))
def test_sum(number):
    assert torch.ones(3, device="mps").sum() == 3
"""
ON_THE_CPU = "def test_sum():\n    assert torch.ones(3).sum() == 3"


def test_without_its_option_the_plugin_does_nothing(run_pytest):
    assert run_pytest(ON_THE_DEVICE).returncode == 1


@pytest.mark.long
@pytest.mark.parametrize("words", [[], ["-n", "2"]], ids=["alone", "parallel"])
def test_the_counts_of_parallel_tests_are_summed(run_pytest, words):
    done = run_pytest(ON_THE_DEVICE, "--simulated-mps", *words)
    assert done.returncode == 0, done.stdout
    assert "simulated MPS, operators of PyTorch 2.13" in done.stdout
    assert "operators    3 different ones, 12 calls" in done.stdout


@pytest.mark.parametrize("words", [[], pytest.param(["-n", "2"], marks=pytest.mark.long)])
def test_tests_that_used_no_operator_fail(run_pytest, words):
    failed = run_pytest(ON_THE_CPU, "--simulated-mps", *words)
    assert failed.returncode == 1
    assert "1 passed" in failed.stdout
    assert "error: no operator ran on the device" in failed.stdout


@pytest.mark.parametrize(
    "option", ["--allow-no-operators", pytest.param("--collect-only", marks=pytest.mark.long)]
)
def test_no_operator_may_be_allowed_and_collecting_needs_none(run_pytest, option):
    done = run_pytest(ON_THE_CPU, "--simulated-mps", option)
    assert done.returncode == 0, done.stdout
    assert "error" not in done.stdout


@pytest.mark.parametrize("option", ["--as-torch=2.12", pytest.param("--like-macos", marks=pytest.mark.long)])
def test_options_of_the_device_need_the_device(run_pytest, option):
    done = run_pytest(ON_THE_CPU, option)
    assert done.returncode == 4
    assert f"{option.partition('=')[0]} needs --simulated-mps" in done.stderr
