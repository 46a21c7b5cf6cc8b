"""Call PyTorch's operators on the simulated device, and compare with what its own tests expect on a Mac.

    python -m tools.measuring.device_operators [--cache FOLDER] [RELEASE …]

It runs in an environment that can hold the device (.venv-sim), with the package expecttest. The calls are the
samples of the installed PyTorch (OpInfo), of every operator and ten types. What a Mac accepts and refuses is
in the lists of each release, in its wheel. The results are written to docs/data/results/simulated_mps.yaml.
"""

from __future__ import annotations

import collections
import json
import signal
import subprocess
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from examples.programs.command_line import StrictParser
from snippets.errors import UsageError, exit_with_one_line
from tools.measuring.device_rules import wheels_in
from tools.measuring.listed_failures import kind_of, read_wheel
from tools.measuring.result_entries import origin, write
from tools.measuring.simulated_mps import DATA, HEADER
from tools.read_yaml import read_yaml
from tools.versions import number

SAMPLES, SECONDS = 60, 20  # at most, of one operator and type
TYPES = ["float32", "float16", "bfloat16", "complex64", "int64", "int32", "int16", "int8", "uint8", "bool"]
DOUBLE = "float64"
TYPES_OF_MPS_SINCE = (2, 11)  # before, PyTorch tested MPS with the types of the CPU


def too_long(*_: object) -> None:
    """End a call that takes too long."""
    raise TimeoutError(f"more than {SECONDS} s")


def call_samples(operator: Any, device: str, dtype: torch.dtype) -> str:
    """Call an operator with its samples; return the first error, or ""."""
    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(SECONDS)
    try:
        for index, sample in enumerate(operator.sample_inputs(device, dtype, requires_grad=False)):
            if index >= SAMPLES:
                break
            operator(sample.input, *sample.args, **sample.kwargs)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        signal.alarm(0)
    return ""


def refuses_types(operator: Any) -> bool:
    """Return whether PyTorch knows that MPS refuses a type: then its test of types is expected to fail there.

    Otherwise a listed failure is that of a comparison.
    """
    marks = [mark for mark in operator.decorators if getattr(mark, "device_type", None) == "mps"]
    return any((mark.cls_name, mark.test_name) == ("TestCommon", "test_dtypes") for mark in marks)


def call_every_operator(release: str) -> Iterator[tuple[str, str, str, bool]]:
    """Yield operator, type, the error on the device and `refuses_types`, for the types that PyTorch tests."""
    import simulated_mps

    simulated_mps.enable(release)
    from torch.testing._internal.common_methods_invocations import op_db

    tested = "mps" if number(release) >= TYPES_OF_MPS_SINCE else "cpu"
    for operator in op_db:
        if "jiterator" in operator.name:
            continue
        for name in TYPES:
            dtype = getattr(torch, name)
            if dtype in operator.supported_dtypes(tested):
                error = call_samples(operator, "mps", dtype)
                yield operator.name + operator.variant_test_name, name, error, refuses_types(operator)


def count(wheel: Path, release: str) -> dict[str, dict[str, int]]:
    """Return for each kind how many pairs of an operator and a type there are, and how many are refused.

    Those whose samples ask for float64 are left out, since a Mac refuses them, too.
    """
    lists = read_wheel(wheel)
    counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for operator, name, error, may_refuse in call_every_operator(release):
        kind = kind_of(lists, operator, name)
        if kind == "not counted" or (kind == "accepted" and DOUBLE in error):
            continue
        if kind == "complex" and not may_refuse:
            continue
        counts[kind].update(pairs=1, refused=bool(error))
    return {kind: dict(found) for kind, found in sorted(counts.items())}


def count_apart(wheel: Path, release: str) -> dict[str, dict[str, int]]:
    """Return the counts of a process of its own."""
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        __spec__.name,
        "--cache",
        str(wheel.parent),
        "--one",
        release,
    ]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, store and print."""
    parser = StrictParser(prog="device_operators", description=__doc__)
    parser.add_argument("releases", nargs="*", metavar="RELEASE", help="such as 2.13; default: all wheels")
    parser.add_argument("--cache", type=Path, default=Path(".cache") / "wheels", help="folder of the wheels")
    parser.add_argument("--one", metavar="RELEASE", help="print the counts of one release, as JSON")
    options = parser.parse_args(argv)
    wheels = wheels_in(options.cache)
    if options.one:
        warnings.simplefilter("ignore")
        print(json.dumps(count(wheels[options.one], options.one)))
        return 0
    chosen = options.releases or list(wheels)
    if not wheels or not set(chosen) <= set(wheels):
        raise UsageError(
            f"{options.cache}: wheels of {', '.join(wheels) or 'no release'}; see `make follow-release`"
        )
    here = {"installed": str(torch.__version__)}
    found = {release: here | count_apart(wheels[release], release) for release in chosen}
    content = read_yaml(DATA)
    before = content.get("operators", {})
    where = origin("python -m tools.measuring.device_operators", before=before)
    releases = before.get("releases", {}) | found
    content["operators"] = {
        "releases": {each: releases[each] for each in sorted(releases, key=number)}
    } | where
    print(write(content, DATA, HEADER))
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
