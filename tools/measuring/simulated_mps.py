"""Run PyTorch's own tests of MPS on the simulated device, or time it, and store the result.

    python -m tools.measuring.simulated_mps FOLDER --source "repository, branch, commit"
    python -m tools.measuring.simulated_mps --speed

It runs in an environment that can hold the device (.venv-sim), with the package expecttest. FOLDER holds
test_mps.py of a PyTorch release, which is not part of this repository. Tests that need Metal are counted
apart, and so are those that are known to fail on the real device, by the lists of the installed PyTorch
(torch.testing._internal.common_mps). A test that crashes counts as failed, and the run goes on behind it. The
results are written to docs/data/results/simulated_mps.yaml.
"""

from __future__ import annotations

import collections
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from examples.programs.command_line import StrictParser
from snippets.errors import RunError, UsageError, exit_with_one_line
from snippets.timing import measure, spread
from tools.measuring.result_entries import origin, rounded, write
from tools.pytorch_test_run import MACOS, read_record
from tools.read_yaml import read_yaml

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "docs" / "data" / "results" / "simulated_mps.yaml"
HEADER = "# By hand: shared and busy. tools/measuring/simulated_mps.py writes the rest.\n"
CRASHES = 30  # after which the run is given up

# Tests of what only Metal has: shaders, traces, tensors larger than the machine, Metal's layout of int4.
NEEDS_METAL = re.compile(r"metal|profiler|capture|shader|TestLargeTensors|int4_mm", re.IGNORECASE)

# Tests whose samples ask for float64: a Mac refuses them as well, whatever the lists say.
ASKS_FLOAT64 = re.compile(r"Exception: Cannot convert a MPS Tensor to float64 dtype")

# Tests of what later releases changed, so that the real device of the installed release fails them, too.
OTHER_RELEASE = {
    "TestMPS::test_batch_norm": "2.13 refuses eps = 0, which the test uses",
    "TestMPS::test_default_mps_generator": "since the state holds the offset, restoring it no longer rewinds",
    "TestMPS::test_mps_generator": "since the state holds the offset, restoring it no longer rewinds",
    "TestFallbackWarning::test_error_on_not_implemented": "torch.lcm has a kernel now",
    "TestAdvancedIndexing::test_bool_indices": "masks of bytes no longer warn",
    "TestAdvancedIndexing::test_byte_mask": "masks of bytes no longer warn",
    "TestAdvancedIndexing::test_multiple_byte_mask": "masks of bytes no longer warn",
    "TestAdvancedIndexing::test_byte_tensor_assignment": "masks of bytes no longer warn",
    "TestAdvancedIndexing::test_byte_mask_accumulate": "masks of bytes no longer warn",
}

# What the tests of one release need to run with the lists of another.
LISTS = """
import functools
from torch.testing._internal import common_mps

mps_ops_modifier = functools.partial(common_mps.mps_ops_modifier, device_type="cpu")
mps_ops_grad_modifier = common_mps.mps_ops_grad_modifier


def mps_ops_error_inputs_modifier(ops):
    return common_mps.mps_ops_error_inputs_modifier([op for op in ops if op.error_inputs_func is not None])

"""
BEFORE = "\nclass MpsMemoryLeakCheck"


def with_installed_lists(text: str) -> str:
    """Return test_mps.py with the installed release's lists of known failures instead of its own."""
    if "common_mps" in text or text.count(BEFORE) != 1:
        return text
    return text.replace(BEFORE, LISTS + BEFORE)


SIMULATED = ("-p", "simulated_mps.pytest_plugin", "--simulated-mps")


def run_tests(folder: Path, scratch: Path, device: Sequence[str] = SIMULATED) -> dict[str, dict[str, str]]:
    """Run all tests of `folder` and return what became of each (see read_record). Raises RunError."""
    copy, record = scratch / "test_mps.py", scratch / "record"
    copy.write_text(with_installed_lists((folder / "test_mps.py").read_text(encoding="utf-8")), "utf-8")
    words = ["-q", *device, "-p", "tools.pytorch_test_run", "--record", str(record)]
    words += ["-p", "no:cacheprovider", "--tb=no", "-W", "ignore"]
    paths = [str(ROOT), str(ROOT / "tests/simulated_mps"), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    for _ in range(CRASHES):
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *words, copy.name],
            cwd=scratch,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode in (0, 1):
            return read_record(record)
        if not record.exists() or done.returncode in (2, 3, 4):
            raise RunError(f"the tests do not run: {(done.stdout + done.stderr).strip().splitlines()[-1]}")
        print(f"a test crashed; going on ({len(read_record(record))} tests so far)", file=sys.stderr)
    raise RunError(f"{CRASHES} tests crashed; the run was given up")


def kind_of(test: str, outcome: str, message: str = "") -> str:
    """Return the row in which a test counts."""
    if NEEDS_METAL.search(test):
        return "needs_metal"
    if test in OTHER_RELEASE:
        return "other_release"
    if outcome == "failed" and ASKS_FLOAT64.search(message):
        return "asks_float64"
    known = {"xfailed": "fails_on_both", "xpassed": "fails_on_mps_only", "started": "crashed"}
    return known.get(outcome, outcome)


GROUPS = {
    "TestConsistency": "consistency",
    "TestErrorInputs": "error_inputs",
    "TestCommon": "numpy",
}


def count(results: dict[str, dict[str, str]]) -> dict[str, dict[str, int]]:
    """Return for each group of tests how many passed, how many failed and so on."""
    groups: dict[str, collections.Counter] = {
        name: collections.Counter() for name in ("hand_written", *GROUPS.values())
    }
    for test, entry in results.items():
        group = next((name for start, name in GROUPS.items() if test.startswith(start)), "hand_written")
        groups[group][kind_of(test, entry["outcome"], entry["message"])] += 1
    return {name: dict(sorted(found.items())) for name, found in groups.items() if found}


def shares(counts: dict[str, dict[str, int]]) -> dict[str, float]:
    """Return how well the device accepts what a Mac accepts, and refuses what a Mac refuses.

    The first is the share that passed of the tests that should pass on a Mac; the second is the share that
    failed of those that should fail there. What should fail there is what the installed PyTorch lists.
    """
    total: collections.Counter[str] = collections.Counter()
    for found in counts.values():
        total.update(found)
    should_pass = total["passed"] + total["failed"] + total["crashed"]
    should_fail = total["fails_on_both"] + total["fails_on_mps_only"]
    return {
        "accepts_what_a_mac_accepts": round(total["passed"] / should_pass, 4),
        "refuses_what_a_mac_refuses": round(total["fails_on_both"] / should_fail, 4),
    }


def reasons(results: dict[str, dict[str, str]], rows: int = 12) -> list[dict[str, object]]:
    """Return the most frequent reasons of failure: the first line of the message, without numbers."""
    found: collections.Counter = collections.Counter()
    for test, entry in results.items():
        if kind_of(test, entry["outcome"], entry["message"]) in ("failed", "crashed"):
            line = entry["message"].partition("\n")[0].partition(" If you want")[0]
            found[re.sub(r"\d+(\.\d+)?(e-?\d+)?", "#", line)[:100] or "crashed"] += 1
    return [{"tests": number, "message": message} for message, number in found.most_common(rows)]


# Steps whose cost is that of calling operators, and a step that keeps the CPU busy.
STEPS: tuple[dict[str, int], ...] = (
    {"layers": 10, "batch_size": 8, "width": 16},
    {"batch_size": 8, "width": 8},
    {"batch_size": 64, "width": 16},
)


def step_of_layers(device: str, layers: int, batch_size: int, width: int) -> Callable[[], torch.Tensor]:
    """Return a training step of a stack of linear layers."""
    stack = [module for _ in range(layers) for module in (torch.nn.Linear(width, width), torch.nn.ReLU())]
    network = torch.nn.Sequential(*stack).to(device)
    optimizer = torch.optim.AdamW(network.parameters())
    inputs = torch.randn(batch_size, width, device=device)

    def step() -> torch.Tensor:
        optimizer.zero_grad()
        loss = network(inputs).square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach().cpu()

    return step


def step_of_example(device: str, **options: int) -> Callable[[], torch.Tensor]:
    """Return a training step of the CIFAR example, a ResNet-18."""
    from examples.cifar_optimizers.train import PROGRAM

    task = PROGRAM.prepare({"data": "synthetic", "data_fraction": 0.05, "device": device} | options)
    batch = next(task.batches(0, 0))
    return lambda: task.learn(batch).cpu()


def measure_speed(options: dict[str, int], repeats: int = 40) -> dict[str, object]:
    """Return seconds per training step on the CPU and on the device, and their ratio.

    Steps on the CPU and on the device alternate, so that a busy machine slows down both.
    """
    kind = step_of_layers if "layers" in options else step_of_example
    steps = {name: kind(name, **options) for name in ("cpu", "mps")}
    cpu = torch.device("cpu")
    for step in steps.values():
        measure(step, cpu, warm_up=3, repeats=1)
    times: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(repeats):
        for name, step in steps.items():
            times[name] += measure(step, cpu, warm_up=0, repeats=1)
    ratios = [mps / plain for plain, mps in zip(times["cpu"], times["mps"], strict=True)]
    return options | {name: rounded(spread(found), 3) for name, found in {**times, "ratio": ratios}.items()}


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, store and print."""
    parser = StrictParser(prog="measure_simulated_mps", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="where test_mps.py is")
    parser.add_argument("--source", default="", help="where that file comes from")
    parser.add_argument("--speed", action="store_true", help="time training steps instead")
    options = parser.parse_args(argv)
    content = read_yaml(DATA)
    if options.speed:
        from simulated_mps import enable

        torch.set_num_threads(1)  # the other cores of a shared machine may be busy
        # Before the device is there, which would be named as a GPU of this machine.
        where = origin("python -m tools.measuring.simulated_mps --speed", before=content["speed"])
        enable()
        content["speed"] = {"steps": [measure_speed(one) for one in STEPS]} | where
    elif options.folder is None or not (options.folder / "test_mps.py").is_file():
        raise UsageError(f"{options.folder or 'no folder'}: name a folder with PyTorch's test/test_mps.py")
    else:
        with tempfile.TemporaryDirectory() as scratch:
            results = run_tests(options.folder, Path(scratch))
        counts = count(results)
        content["tests"] = {
            "source": options.source,
            "told_macos": MACOS,
            **shares(counts),
            "counts": counts,
            "reasons": reasons(results),
        } | origin("python -m tools.measuring.simulated_mps FOLDER", before=content["tests"])
    print(write(content, DATA, HEADER))
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
