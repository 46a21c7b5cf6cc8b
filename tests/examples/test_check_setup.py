"""check_setup.py on described machines, on this one, and with a PyTorch that crashes, hangs or is absent."""

import ast
import dataclasses
import json
import math
import os
import platform
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest
import torch

from examples import check_setup
from examples.check_setup import Machine, Result, install_command, run_checks, satisfies
from tools.versions import pythons, recommend, releases, settings

SCRIPT = Path(check_setup.__file__)
ANSWERS = {
    "torch": {"version": "2.15.0", "device": "mps", "mps_available": True, "mps_built": True},
    "torchvision": {"kept": [0]},
    "computation": {
        "device": "mps",
        "difference": 3e-7,
        "memory": {"recommended": 12 * 2**30, "driver": 8 * 2**20, "current": 2**20},
    },
    "openmp": {
        "with_torch": ["/v/torch/lib/libomp.dylib"],
        "imported": [],
        "loaded": ["/v/torch/lib/libomp.dylib"],
    },
}
MAC = {"system": "Darwin", "arch": "arm64", "translated": False, "virtual": False, "chip": "Apple M2"}
ENVIRONMENT = {"python": "3.12.4", "executable": "/v/bin/python", "env": {}, "failed": {}, "probe": ANSWERS}
PACKAGES = {"torch": "2.15.0", "torchvision": "0.29.2", "torchvision_needs": ">=2.14.0", "numpy": "2.4.6"}
LIBRARIES = {
    "torch_copies": ["2.15.0 in /v/site-packages"],
    "openmp_files": ["/v/torch/lib/libomp.dylib"],
}
HEALTHY = Machine(ram=16 * 2**30, macos="15.6", **MAC, **ENVIRONMENT, **PACKAGES, **LIBRARIES)
INTEL_PACKAGES = {"torch": "2.2.2", "torchvision": "0.17.2", "torchvision_needs": "==2.2.2"}
NO_MPS = {**ANSWERS, "torch": {**ANSWERS["torch"], "device": "cpu", "mps_available": False}}
NO_TORCH = {"torch": {"error": "ModuleNotFoundError: No module named 'torch'"}}


def mac(**changes) -> Machine:
    """Return a healthy Mac with some things changed."""
    if "torch" in changes:
        changes.setdefault("torch_copies", [f"{changes['torch']} in /v"] if changes["torch"] else [])
    return dataclasses.replace(HEALTHY, **changes)


def without_torch(**changes) -> Machine:
    return mac(
        torch="", torchvision="", torchvision_needs="", numpy="", openmp_files=[], probe=NO_TORCH, **changes
    )


def find(machine: Machine, name: str) -> list[Result]:
    return [result for result in run_checks(machine) if result.name == name]


def only(machine: Machine, name: str) -> Result:
    results = find(machine, name)
    assert len(results) == 1, results
    return results[0]


def not_ok(machine: Machine) -> dict[str, str]:
    return {r.name: r.status for r in run_checks(machine) if r.status != "ok"}


def test_a_healthy_mac_has_nothing_to_fix():
    assert not_ok(HEALTHY) == {}
    assert "12.0 GiB for the GPU" in only(HEALTHY, "Memory").found
    assert "20.4 GiB" in only(HEALTHY, "Memory").found  # 1.7 x 12: PyTorch's default hard limit


def test_every_finding_says_why_and_how_to_fix():
    machines = [
        mac(macos="13.6", probe=NO_MPS),
        without_torch(python="3.8.1"),
        mac(arch="x86_64", translated=True),
        mac(env=dict.fromkeys(check_setup.VARIABLES, "0")),
        mac(probe={}),
        mac(failed={"numpy": "?"}),
        mac(torchvision=""),
        mac(torchvision_needs="==2.13.0"),
        mac(virtual=True, probe=NO_MPS),
    ]
    for machine in machines:
        for result in run_checks(machine):
            assert result.status in ("ok", "note", "problem")
            assert result.found and "\n" not in result.found + result.why + result.fix
            if result.status != "ok":
                assert result.why and result.fix, result


# The facts: 2.15 needs macOS 15 and Python 3.11; 2.9 to 2.14 macOS 14; 2.6 to 2.8 macOS 13; 2.2.2 is the last
# for Intel; PyTorch before 2.3 cannot use NumPy 2.
@pytest.mark.parametrize(
    ("macos", "version", "needs", "instead"),
    [
        ("14.5", "2.15.0", "15", "torch==2.14.1 torchvision==0.29.2"),
        ("13.6.1", "2.15.0", "15", "torch==2.8.0 torchvision==0.23.0"),
        ("13.6.1", "2.9.1", "14", "torch==2.8.0 torchvision==0.23.0"),
        ("12.7.6", "2.6.0", "13", "torch==2.4.1 torchvision==0.19.1"),
        ("12.7.6", "2.5.1", "13", "torch==2.4.1 torchvision==0.19.1"),  # pytorch#139425
        ("12.2", "2.4.1", "12.3", ""),
    ],
)
def test_macos_too_old_for_the_installed_pytorch(macos, version, needs, instead):
    machine = mac(macos=macos, torch=version, probe=NO_MPS)
    result = only(machine, "macOS")
    assert result.status == "problem"
    assert f"PyTorch {version} needs {needs}" in result.found
    assert f"update macOS to {needs} or newer" in result.fix and instead in result.fix
    assert "too old" in only(machine, "MPS").found


def test_macos_new_enough():
    versions = {"26.7": "2.15.0", "15.0": "2.15.0", "14.0": "2.14.1", "13.0": "2.8.0", "12.3": "2.4.1"}
    for macos, version in (*versions.items(), ("14.0", "2.9.1")):
        assert only(mac(macos=macos, torch=version), "macOS").status == "ok"
    machine = mac(macos="14.5")  # too old for 2.15, even if MPS says available
    assert only(machine, "macOS").status == "problem" and only(machine, "MPS").status == "ok"


def test_rosetta_is_the_first_thing_to_fix():
    machine = mac(arch="x86_64", translated=True, python="3.10.1", probe=NO_MPS, **INTEL_PACKAGES)
    first = run_checks(machine)[0]
    assert (first.name, first.status) == ("Python", "problem")
    assert "arm64 Python" in first.fix and "torch==2.15.0" in first.fix
    assert only(machine, "MPS").status == "problem" and "Rosetta" in only(machine, "MPS").found


def test_intel_mac_gets_pytorch_222_and_numpy_1():
    probe = {**NO_MPS, "torch": {**NO_MPS["torch"], "numpy_error": "RuntimeError: Numpy is not available"}}
    machine = mac(arch="x86_64", chip="Intel", macos="14.1", python="3.11.9", probe=probe, **INTEL_PACKAGES)
    assert not_ok(machine) == {"macOS": "note", "MPS": "note", "NumPy": "problem"}
    assert '"numpy<2"' in only(machine, "NumPy").fix
    assert install_command(machine) == ('python -m pip install torch==2.2.2 torchvision==0.17.2 "numpy<2"')
    assert "Python 3.8 to 3.12" in install_command(dataclasses.replace(machine, python="3.13.0"))


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"virtual": True}, "virtual machine"),
        ({}, "this process sees no GPU"),
        ({"probe": {**NO_MPS, "torch": {**NO_MPS["torch"], "mps_built": False}}}, "not built"),
    ],
)
def test_why_mps_is_missing_on_apple_silicon(change, cause):
    result = only(mac(**{"probe": NO_MPS, **change}), "MPS")
    assert result.status == "problem" and cause in result.found


def test_no_mps_elsewhere_is_a_note():
    machine = mac(system="Linux", arch="x86_64", macos="", chip="", probe=NO_MPS)
    assert not_ok(machine) == {"MPS": "note"}
    assert install_command(machine) == "python -m pip install --upgrade torch torchvision"


@pytest.mark.parametrize(
    ("macos", "python", "expected"),
    [
        ("15.2", "3.13.1", "python -m pip install torch==2.15.0 torchvision==0.29.2"),
        ("15.2", "3.10.4", "python -m pip install torch==2.14.1 torchvision==0.29.2"),
        ("14.7", "3.13.1", "python -m pip install torch==2.14.1 torchvision==0.29.2"),
        ("13.1", "3.9.6", "python -m pip install torch==2.8.0 torchvision==0.23.0"),
        (
            "13.1",
            "3.14.0",
            "install Python 3.9 to 3.13, make a new environment, then: "
            "python -m pip install torch==2.8.0 torchvision==0.23.0",
        ),
        ("12.0", "3.12.0", "update macOS to 12.3 or newer, better to the newest that this Mac takes"),
    ],
)
def test_without_pytorch_the_exact_command_is_given(macos, python, expected):
    result = only(without_torch(macos=macos, python=python), "PyTorch")
    assert (result.status, result.fix) == ("problem", expected)


def test_the_copied_table_agrees_with_the_release_data():
    for row in check_setup.RELEASES:
        macos = ".".join(map(str, row.macos))
        best = recommend("arm64", macos, None).best
        assert (best.torch, best.torchvision) == (row.torch, row.torchvision)
        span = tuple(f"{major}.{minor}" for major, minor in (row.oldest_python, row.newest_python))
        assert best.python_range("arm64") == span
        assert row.pythons == " to ".join(span)
        first = [r.minor for r in releases() if r.works_from == macos][-1]
        assert first == ".".join(map(str, row.since))
    intel = recommend("x86_64", "13.0", None).best
    assert (intel.torch, intel.torchvision) == (check_setup.INTEL.torch, check_setup.INTEL.torchvision)


def test_every_advice_equals_the_picker_of_the_page():
    compared = 0
    for chip in ("arm64", "x86_64"):
        for entry in settings()["macos"]:
            for python in pythons():
                answer = recommend(chip, entry["at_least"], python)
                shown = answer.release or answer.best
                if shown:
                    advice = install_command(mac(arch=chip, macos=entry["at_least"], python=f"{python}.0"))
                    assert advice.endswith(f"python -m {shown.command()}")
                    assert advice.startswith("install Python") == (answer.release is None)
                    compared += 1
    assert compared > 70


def test_old_versions_that_work_are_notes():
    machine = mac(python="3.9.18", torch="2.8.0", torchvision="0.23.0", torchvision_needs="==2.8.0")
    assert not_ok(machine) == {"Python": "note", "PyTorch": "note"}
    assert "3.11 to 3.15" in only(machine, "Python").fix
    assert "wrong results" in only(machine, "PyTorch").why  # before 2.14
    slightly_old = only(mac(torch="2.14.1"), "PyTorch")
    assert (slightly_old.status, "2.15.0" in slightly_old.found) == ("note", True)


@pytest.mark.parametrize(
    "copies",
    [
        ["2.13.0 in /v/site-packages", "2.15.0 in /v/site-packages"],
        ["2.15.0 in /v/site-packages", "/v/site-packages/~orch"],
        ["2.13.0 in /v/site-packages"],  # the package data say 2.13.0, but 2.15.0 is what runs
    ],
)
def test_several_copies_of_pytorch(copies):
    ok, wrong = find(mac(torch_copies=copies), "PyTorch")
    assert ok.status == "ok" and wrong.status == "problem"
    assert all(copy in wrong.found for copy in copies) and "uninstall" in wrong.fix


@pytest.mark.parametrize(
    ("have", "requirement", "fits"),
    [
        ("2.15.0", ">=2.14.0", True),
        ("2.13.0", ">=2.14.0", False),
        ("2.9.1", "==2.9.1", True),
        ("2.9.1+cpu", "==2.9.1", True),
        ("2.9.0", "==2.9.1", False),
        ("2.15.0", "", True),
        ("2.10.0", ">=2.9.0,<2.10", False),
        ("2.9.1", "!=2.9.1", False),
        ("2.16.0.dev20261101", "==2.16.0.dev20261101", True),
        ("2.16.0.dev20261102+cpu", "==2.16.0.dev20261101", False),
    ],
)
def test_requirements_of_torchvision(have, requirement, fits):
    assert satisfies(have, requirement) is fits


def test_unfit_torchvision_is_a_problem_or_absent():
    result = only(mac(torchvision="0.28.0", torchvision_needs="==2.13.0"), "torchvision")
    assert result.status == "problem" and "needs torch==2.13.0" in result.found
    assert result.fix == "python -m pip install torch==2.15.0 torchvision==0.29.2"
    broken = {**ANSWERS, "torchvision": {"error": "RuntimeError: operator torchvision::nms does not exist"}}
    assert "nms does not exist" in only(mac(probe=broken), "torchvision").found
    assert only(mac(torchvision=""), "torchvision").status == "note"


@pytest.mark.parametrize(
    ("high", "low", "status", "part"),
    [
        ("1.0", None, "problem", "the low limit is 1.4"),  # PyTorch: invalid low watermark ratio 1.4
        ("1.3", None, "problem", "the low limit is 1.4"),
        ("1.0", "0.9", "ok", "0.9"),
        ("1.4", None, "ok", "1.4"),
        (None, "1.8", "problem", "the low limit is 1.8"),  # above the default high of 1.7
        ("0.0", None, "problem", "0.0"),
        ("0", "2.0", "problem", "0"),
        ("0", "2.5", "problem", "2.5"),
        ("2.1", None, "problem", "2.1"),
        ("-1", None, "problem", "-1"),
        ("a lot", None, "problem", "a lot"),
        ("nan", None, "problem", "nan"),
    ],
)
def test_watermarks(high, low, status, part):
    env = {name: value for name, value in ((check_setup.HIGH, high), (check_setup.LOW, low)) if value}
    result = find(mac(env=env), "Memory")[-1]
    assert result.status == status and part in result.found
    if part.startswith("the low limit") and high:
        assert f"export {check_setup.HIGH}={float(high):g} {check_setup.LOW}=" in result.fix


@pytest.mark.parametrize(
    ("name", "value", "version", "status"),
    [
        ("PYTORCH_ENABLE_MPS_FALLBACK", "1", "2.15.0", "note"),
        ("PYTORCH_ENABLE_MPS_FALLBACK", "0", "2.15.0", "ok"),
        ("PYTORCH_ENABLE_MPS_FALLBACK", "false", "2.15.0", "problem"),  # since 2.8 that switches it on
        ("PYTORCH_ENABLE_MPS_FALLBACK", "", "2.8.0", "problem"),
        ("PYTORCH_ENABLE_MPS_FALLBACK", "1", "2.7.1", "note"),
        ("PYTORCH_ENABLE_MPS_FALLBACK", "false", "2.7.1", "ok"),  # read as a number: off
        ("KMP_DUPLICATE_LIB_OK", "TRUE", "2.15.0", "problem"),
        ("KMP_DUPLICATE_LIB_OK", "FALSE", "2.15.0", "ok"),
        ("MKL_NUM_THREADS", "1", "2.15.0", "note"),
        ("OMP_NUM_THREADS", "4", "2.15.0", "ok"),
        ("TORCHDYNAMO_SUPPRESS_ERRORS", "1", "2.15.0", "note"),
        ("TORCHDYNAMO_SUPPRESS_ERRORS", "0", "2.15.0", "problem"),  # any value hides errors
        ("TORCHDYNAMO_SUPPRESS_ERRORS", "", "2.15.0", "ok"),
        ("DISABLE_MPS", "1", "2.15.0", "note"),
    ],
)
def test_variables(name, value, version, status):
    machine = mac(env={name: value}, torch=version)
    results = find(machine, "Variables")
    assert [r.status for r in results] == [status]
    if status != "ok":
        assert results[0].found == f"{name}={value}" and results[0].fix == f"unset {name}"


def test_variables_of_mps_do_nothing_on_linux():
    machine = mac(system="Linux", arch="x86_64", macos="", probe=NO_MPS, env={check_setup.HIGH: "0.0"})
    assert only(machine, "Variables").status == "note"
    assert "problem" not in not_ok(machine).values()


def openmp(**step) -> Machine:
    return mac(probe={**ANSWERS, "openmp": step})


def test_openmp_libraries():
    torch_copy, other = "/v/torch/lib/libomp.dylib", "/v/faiss/.dylibs/libomp.dylib"
    killed = openmp(with_torch=[torch_copy], imported=["faiss"], error="the process ended: OMP: Error #15")
    assert only(killed, "OpenMP").status == "problem" and "torch and faiss" in only(killed, "OpenMP").fix
    alone = openmp(with_torch=[torch_copy, "/conda/lib/libiomp5.dylib"], imported=[], loaded=[])
    assert only(alone, "OpenMP").status == "problem" and "libiomp5" in only(alone, "OpenMP").found
    beside = openmp(with_torch=[torch_copy], imported=["faiss"], loaded=[torch_copy, other])
    assert only(beside, "OpenMP").status == "note" and other in only(beside, "OpenMP").found
    renamed = openmp(with_torch=[torch_copy], loaded=[torch_copy, "/store/omp-runtime"])  # behind a link
    assert only(renamed, "OpenMP").status == "note" and "/store/omp-runtime" in only(renamed, "OpenMP").found
    assert only(openmp(with_torch=[], loaded=[]), "OpenMP").status == "ok"


@pytest.mark.parametrize(
    ("answer", "status", "found"),
    [
        ({"difference": 3e-7}, "ok", ""),
        ({"difference": 0.02}, "problem", ""),
        ({"difference": math.nan}, "problem", ""),
        ({"error": "RuntimeError: invalid low watermark ratio 1.4"}, "problem", "invalid low watermark"),
        (None, "problem", ""),  # it was not reached
    ],
)
def test_the_result_of_the_computation(answer, status, found):
    probe = {**ANSWERS, "computation": answer and ANSWERS["computation"] | answer}
    result = only(mac(probe=probe if answer else {"torch": ANSWERS["torch"]}), "Computation")
    assert result.status == status and found in result.found


@pytest.mark.parametrize("wrong", [1, 1.01, math.nan])
def test_comparison_with_the_cpu_is_exact_to_rounding(monkeypatch, wrong):
    def forward(self, x):
        return torch.tanh(x) * (wrong if x.dtype == torch.float32 else 1)

    monkeypatch.setattr(torch.nn.Tanh, "forward", forward)
    difference = check_setup.compare_with_cpu("cpu")
    assert (0 < difference < 1e-5) if wrong == 1 else not difference <= check_setup.TOLERANCE


def test_a_check_that_fails_itself_is_reported():
    def check_nothing(machine):
        raise ValueError("planted")
        yield

    machine = mac(failed={"numpy": "OSError: damaged"})
    results = run_checks(machine, {"Nothing": check_nothing, "Python": check_setup.check_python})
    found = [(result.name, result.status) for result in results]
    assert found == [("Python", "ok"), ("numpy", "problem"), ("Nothing", "problem")]
    assert "ValueError: planted" in results[-1].found


# ---- this machine ----


def run_script(*arguments: str, python: str = sys.executable, script: Path = SCRIPT, **env: str):
    clean = {name: value for name, value in os.environ.items() if name not in check_setup.VARIABLES}
    done = subprocess.run(
        [python, str(script), *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**clean, **env},
        timeout=240,
    )
    assert "Traceback" not in done.stdout + done.stderr
    return done


@pytest.fixture
def alone(tmp_path: Path) -> Path:
    """Return the script copied to a folder of its own, as readers copy it."""
    return Path(shutil.copy(SCRIPT, tmp_path))


@pytest.mark.program
def test_a_copied_script_reports_on_this_machine(alone):
    done = run_script("--json", script=alone)
    report = json.loads(done.stdout)
    by_name = {result["name"]: result for result in report["results"]}
    assert done.returncode == (0 if report["ready"] else 1)
    assert report["ready"] == all(r["status"] != "problem" for r in report["results"])
    assert report["machine"]["torch"] == torch.__version__
    assert by_name["Computation"]["status"] == "ok"
    assert report["machine"]["failed"] == {}
    assert set(report["machine"]["env"]) == set()
    if sys.platform == "linux":
        assert by_name["MPS"]["status"] == "note"
        assert any("omp" in path for path in report["machine"]["probe"]["openmp"]["with_torch"])


@pytest.mark.long
@pytest.mark.program
def test_harmful_variable_is_named_with_exit_code_1():
    done = run_script(KMP_DUPLICATE_LIB_OK="TRUE")
    assert done.returncode == 1
    assert "[problem] Variables: KMP_DUPLICATE_LIB_OK=TRUE" in done.stdout
    assert "fix: unset KMP_DUPLICATE_LIB_OK" in done.stdout
    assert "Problems: " in done.stdout.splitlines()[-1]


@pytest.mark.parametrize("argument", ["--jso", "mps", "--JSON"])
def test_wrong_usage_ends_with_exit_code_2(argument, capsys):
    with pytest.raises(SystemExit) as ended:
        check_setup.main([argument])
    shown = capsys.readouterr().err
    assert (ended.value.code, shown.count("\n")) == (2, 1) and argument in shown


@pytest.fixture
def no_checks(monkeypatch):
    """Let the script find nothing out and print a line."""
    monkeypatch.setattr(check_setup, "gather", lambda: None)
    monkeypatch.setattr(check_setup, "run_checks", lambda machine: [])
    monkeypatch.setattr(check_setup, "as_text", lambda machine, results: "Nothing is wrong.")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has /dev/full")
def test_a_full_disk_is_one_line(no_checks, monkeypatch):
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        with pytest.raises(SystemExit) as ended:
            check_setup.main([])
    assert ended.value.code == "error: cannot write the output: No space left on device"


def test_a_reader_that_has_gone_is_no_error(no_checks, monkeypatch):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as gone:
        monkeypatch.setattr(sys, "stdout", gone)
        assert check_setup.main([]) == 141


@pytest.mark.program
def test_a_python_without_pytorch(tmp_path, alone):
    venv.create(tmp_path / "bare", with_pip=False)
    done = run_script(python=str(tmp_path / "bare" / "bin" / "python"), script=alone)
    assert done.returncode == 1
    assert "[problem] PyTorch: not installed" in done.stdout
    assert "python -m pip install" in done.stdout


@pytest.mark.program
@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import os; os.abort()", "signal SIGABRT"),
        ("import sys; print('OMP: Error #15', file=sys.stderr); import os; os.abort()", "OMP: Error #15"),
        ("import sys; sys.exit('no licence')", "SystemExit: no licence"),
        ("import os; os._exit(3)", "exit code 3"),
        ("raise ImportError('libtorch_cpu.dylib: symbol not found')", "symbol not found"),
        ("print('hello', end='')", "another torch is in the way"),
    ],
)
def test_a_pytorch_that_does_not_start(tmp_path, source, expected):
    package = tmp_path / "torch"
    package.mkdir()
    (package / "__init__.py").write_text(source)
    done = run_script(PYTHONPATH=str(tmp_path))
    assert done.returncode == 1
    problem = next(line for line in done.stdout.splitlines() if line.startswith("[problem] PyTorch:"))
    assert "cannot start" in problem and expected in problem
    assert "[note]    MPS: not checked" in done.stdout or platform.system() != "Darwin"


@pytest.mark.long
@pytest.mark.program
def test_a_package_that_kills_pytorch_is_named(tmp_path):
    (tmp_path / "faiss.py").write_text("import os, sys; print('OMP: Error #15', file=sys.stderr); os.abort()")
    done = run_script(PYTHONPATH=str(tmp_path))
    assert done.returncode == 1
    problem = next(line for line in done.stdout.splitlines() if line.startswith("[problem] OpenMP:"))
    assert "faiss" in problem and "OMP: Error #15" in problem


@pytest.mark.program
def test_a_pytorch_that_hangs(tmp_path, monkeypatch):
    package = tmp_path / "torch"
    package.mkdir()
    (package / "__init__.py").write_text("import time; time.sleep(60)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(check_setup, "PROBE_SECONDS", 2)
    assert check_setup.probe() == {"torch": {"error": "no answer within 2 seconds"}}


@pytest.mark.program
def test_the_script_stands_alone_on_python_39():
    tree = ast.parse(SCRIPT.read_text(encoding="utf-8"), feature_version=(3, 9))
    top = {alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names}
    top |= {node.module for node in tree.body if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in top} <= sys.stdlib_module_names
    old = shutil.which("python3.9")
    if old and subprocess.run([old, "-c", ""], check=False, capture_output=True).returncode == 0:
        assert run_script("--json", python=old).returncode in (0, 1)
