"""The shell blocks that only a Mac can run, as far as they ask for no password and change nothing.

Each runs in an empty folder that has `examples` and `snippets` of this project, so a training writes there.
"""

import re
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from examples.check_claims import last_line
from examples.verifying.steps import ROOT, Found, Place, Step, finish, missing_package, not_tried, scratch


class Block(NamedTuple):
    """What a block needs, its estimated seconds, and what the page says: exit code, pattern, release."""

    needs: str = "mps"
    seconds: float = 2.5
    prints: str = ""
    code: int = 0
    since: int = 0  # the pages say it of 2.`since` and newer
    full: bool = False  # only with --full


BLOCKS = {
    "which_mac.sh:mac": Block("macos", 0.2, r"^arm64$"),
    "long_runs_mac.sh:who_keeps_awake": Block("macos", 0.2),
    "openmp_mac.sh:parallel": Block("macos", 2, "ATen parallel backend: OpenMP"),
    "profiling_mac.sh:capture-enabled": Block("macos", 2, "^True$"),
    "missing_operators_mac.sh:error": Block(prints=r"NotImplementedError.*aten::linalg_eig", code=1),
    "missing_operators_mac.sh:fallback": Block(prints="UserWarning"),
    "missing_operators_mac.sh:too_late": Block(prints="NotImplementedError", code=1),
    "precision_mac.sh:float64": Block(prints="TypeError.*float64", code=1),
    "precision_mac.sh:matmul_precision": Block(prints="^True$"),
    "precision_mac.sh:on_mps": Block(seconds=6, prints="torch.bfloat16"),
    "data_loading_mac.sh:copy": Block(prints=r"^0\.0$"),
    "data_loading_mac.sh:non_blocking": Block(prints="0 of 1000", since=13),
    "numerics_mac.sh:deterministic": Block(prints="RuntimeError.*embedding", code=1, since=15),
    "numerics_mac.sh:compare": Block(
        seconds=20, prints="(?s)right within rounding.*operators without an MPS kernel: none"
    ),
    "benchmark_mac.sh:timing": Block(seconds=6),
    "compile_mac.sh:kernels": Block(seconds=8),
    "memory_mac.sh:allocator": Block(),
    "profiling_mac.sh:statistics": Block(seconds=8),
    "profiling_mac.sh:profile-mps": Block(seconds=15, full=True),
    "compile_mac.sh:logs": Block(seconds=30, full=True),
    "cifar_mac.sh:estimate": Block(seconds=40, full=True),
    "data_loading_mac.sh:workers": Block(seconds=30, full=True),
    "genomic_mac.sh:autocast": Block(seconds=30, full=True),
    "indicators_mac.sh:time": Block(seconds=30, full=True),
    "nightly_mac.sh:report": Block("macos", 20, full=True),
}
REASONS = (  # why a block is not among them
    (r"\bsudo\b", "it asks for a password"),
    (r"~/|launchctl", "it reads or changes files of yours"),
    (
        r"pairs\.npz|data/rplan|your_program|runs/\w+/|torch-nightly|human_nontata|caduceus-ps|--download",
        "it needs data, runs or downloads of yours",
    ),
    (r"launch_agent", "it is for launchd"),
    (r"mlx", "it needs MLX"),
    ("", "it trains or measures for long"),
)
ITSELF = "verify_mac"  # shell files of this very command
LIMIT = 60.0


def why_not(text: str) -> str:
    """Return why a block is not tried."""
    return next(why for pattern, why in REASONS if re.search(pattern, text))


def run_block(text: str, block: Block, seconds: float) -> Found:
    """Run a block, and compare exit code and output with what its page says."""
    with scratch() as (folder, environment):
        for name in ("examples", "snippets"):
            (folder / name).symlink_to(ROOT / name)
        code, output = finish(text, folder, seconds, environment)
    if why := missing_package(output):
        return not_tried(why)
    if code == block.code and re.search(block.prints, output, re.MULTILINE):
        return {"outcome": "ran"}
    wanted = f"exit code {block.code}" + (f", printing {block.prints!r}" if block.prints else "")
    found = f"exit code {code}: {last_line(output)}"
    return {"outcome": "failed", "expected": wanted, "found": found}


def steps(place: Place) -> Iterator[Step]:
    """Yield a step for each block of the files that are marked `macOS only`."""
    from tools.checks.sections import all_sections
    from tools.checks.shell_snippets import FOLDER, run_mark

    inside = f"{FOLDER}/"
    sections = {key.removeprefix(inside): one for key, one in all_sections(ROOT)[0].items() if inside in key}
    others = (key for key in sections if key not in BLOCKS)
    for key in [*BLOCKS, *sorted(others)]:
        block, file = BLOCKS.get(key), key.partition(":")[0]
        if run_mark(ROOT / FOLDER / file).kind != "macOS only" or file.startswith(ITSELF):
            continue
        text = sections[key].text
        if block is None:
            why, block = why_not(text), Block(seconds=0)
        else:
            why = place.why_not(block.needs)
            why = why or (f"of PyTorch 2.{block.since} and newer" if place.minor < block.since else "")
            why = why or ("only with --full" if block.full and not place.full else "")
        limit = max(LIMIT, 4 * block.seconds)
        run = partial(run_block, text, block)
        seconds, code = 0 if why else block.seconds, sections[key].hash
        yield Step("block", f"{FOLDER}/{key}", seconds, run, limit, why, code)
