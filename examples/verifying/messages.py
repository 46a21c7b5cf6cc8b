"""Error messages of the reference, provoked, and compared with what this PyTorch prints."""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from examples.check_claims import last_line
from examples.verifying.steps import (
    Found,
    Place,
    Step,
    finish,
    missing_package,
    not_tried,
    scratch,
    this_python,
)

IMPORTS = "import torch; from torch import nn; from torch.nn import functional as F; m = 'mps'; "
HIGH, LOW = (f"PYTORCH_MPS_{which}_WATERMARK_RATIO" for which in ("HIGH", "LOW"))


class Cause(NamedTuple):
    """Code that provokes a message, what it needs, and of which releases the entry says that it does."""

    code: str
    variables: str = ""  # of the environment, as a shell has them before a command
    needs: str = "mps"
    since: int = 0
    until: int = 99


ATTENTION = "from torch.nn.attention.flex_attention import flex_attention as f; "
CAUSES = {  # by the id of the entry
    "not-currently-implemented": Cause("torch.linalg.eig(torch.eye(2, device=m))"),
    "fall-back-to-cpu": Cause("torch.linalg.eig(torch.eye(2, device=m))", "PYTORCH_ENABLE_MPS_FALLBACK=1"),
    "adaptive-pool-divisible": Cause("F.adaptive_avg_pool2d(torch.ones(1, 2, 7, 7, device=m), 3)"),
    "lstm-projections": Cause("nn.LSTM(4, 6, proj_size=3).to(m)(torch.ones(5, 2, 4, device=m))"),
    "conv-transpose-3d": Cause(
        "nn.ConvTranspose3d(1, 1, 2).half().to(m)(torch.ones(1, 1, 3, 3, 3).half().to(m))"
    ),
    "flex-attention-backward": Cause(
        ATTENTION + "q = torch.ones(1, 1, 16, 16, device=m, requires_grad=True); f(q, q, q).sum().backward()"
    ),
    "float64": Cause("torch.zeros(1, dtype=torch.float64).to(m)"),
    "complex128": Cause("torch.zeros(1, dtype=torch.complex128).to(m)"),
    "linear-non-float": Cause("F.linear(torch.ones(2, 3, device=m).int(), torch.ones(4, 3, device=m).int())"),
    "lu-factor-dtype": Cause("torch.linalg.lu_factor(torch.eye(2, device=m).half())", since=15),
    "logspace-integral": Cause("torch.logspace(0, 3, 4, dtype=torch.int64, device=m)"),
    "mps-autocast-dtype-not-supported": Cause("torch.autocast(m, dtype=torch.float32).__enter__()"),
    "out-of-memory": Cause("torch.empty(1 << 26, device=m)", f"{HIGH}=0.001 {LOW}=0.0005"),
    "invalid-buffer-size": Cause("torch.empty(1 << 38, device=m)"),  # a TiB of float32
    "invalid-low-watermark": Cause("torch.ones(1, device=m)", f"{HIGH}=0.7"),
    "invalid-high-watermark": Cause("torch.ones(1, device=m)", f"{HIGH}=3.0"),
    "metal-version-ignored": Cause("print(torch.ones(1, device=m) + 1)", "PYTORCH_MPS_METAL_VERSION=1.0"),
    "same-device": Cause("torch.ones(2, device=m) + torch.ones(2)"),
    "placeholder-storage": Cause("nn.Embedding(3, 2).to(m)(torch.tensor([1]))", until=13),
    "passed-cpu-tensor": Cause("nn.Embedding(3, 2).to(m)(torch.tensor([1]))", since=14),
    "argument-input-on-cpu": Cause("nn.Linear(3, 2).to(m)(torch.ones(2, 3))"),
    "input-type-and-weight-type": Cause("nn.Conv2d(1, 1, 3)(torch.ones(1, 1, 8, 8, device=m))"),
    "slow-conv2d-forward": Cause("nn.Conv2d(1, 1, 3).to(m)(torch.ones(1, 1, 8, 8))"),
    "indices-on-cpu": Cause("torch.ones(3)[torch.tensor([0, 1], device=m)]"),
    "to-numpy": Cause("torch.ones(1, device=m).numpy()"),
    "generator-device": Cause("torch.randn(2, device=m, generator=torch.Generator())"),
    "invalid-device-string-mps": Cause("torch.device('mps:[0, 1, 2, 3]')", needs=""),
    "copy-out-of-meta-tensor": Cause("nn.Linear(2, 2, device='meta').to(m)"),
    "pin-memory-not-on-mps": Cause("list(torch.utils.data.DataLoader([1, 2], pin_memory=True))"),
    "torch-not-compiled-with-cuda": Cause("torch.ones(1).cuda()", needs="no cuda"),
    "cuda-generator-aten-cuda": Cause("torch.Generator('cuda')", needs="no cuda"),
    "gradscaler-cuda-not-available": Cause("torch.amp.GradScaler('cuda')", needs="no cuda"),
    "autocast-cuda-not-available": Cause("torch.autocast('cuda').__enter__()", needs="no cuda"),
    "nccl-not-built-in": Cause(
        "d = torch.distributed; d.init_process_group('nccl', store=d.HashStore(), rank=0, world_size=1)",
        needs="no cuda",
    ),
}


def wordings(message: Mapping[str, Any], release: str) -> list[str]:
    """Return the wordings of a message that the wheel of a release has; all, where no wheel was read."""
    from tools import ranges

    texts, marks = ranges.texts(message), ranges.marks(message)
    number = [*ranges.read()["wheels"], release].index(release)  # of a newer one: behind all
    if not any(marks) or number >= len(ranges.read()["wheels"]):
        return texts
    return [text for text, mark in zip(texts, marks, strict=True) if mark and mark[number] == "x"]


def fits(wording: str, message: Mapping[str, Any], printed: str) -> bool:
    """Return whether a wording was printed, with whatever numbers and names are filled in."""
    from tools import ranges

    kind = ranges.CLASS.match(wording)
    if kind and kind[0].strip() not in printed:
        return False
    return all(
        ranges.stands_for(literal.rstrip("\n"), printed)
        for literal in ranges.literals(wording, message.get("search", ()))
    )


def run_message(message: Mapping[str, Any], cause: Cause, release: str, seconds: float) -> Found:
    """Provoke a message, and compare it with the wordings of the page."""
    command = f"{cause.variables} {this_python('-W', 'default', '-c', IMPORTS + cause.code)}"
    with scratch() as (folder, environment):
        _, printed = finish(command, folder, seconds, environment)
    if why := missing_package(printed):
        return not_tried(why)
    known = wordings(message, release)
    if any(fits(wording, message, printed) for wording in known):
        return {"outcome": "as said"}
    lines = [line for line in printed.splitlines() if re.search(r"(Error|Warning)\b", line)]
    return {"outcome": "differs", "expected": known[0], "found": last_line("\n".join(lines) or printed)}


def steps(place: Place) -> Iterator[Step]:
    """Yield a step for each message that can be provoked."""
    from tools.ranges import MESSAGES
    from tools.read_yaml import read_yaml

    known = {
        one["id"]: one for file in sorted(MESSAGES.glob("*.yaml")) for one in read_yaml(file)["messages"]
    }
    for name, cause in CAUSES.items():
        why = place.why_not(cause.needs)
        if not cause.since <= place.minor <= cause.until or not wordings(known[name], place.release):
            why = why or f"not printed by PyTorch {place.release}"
        run = partial(run_message, known[name], cause, place.release)
        yield Step("message", name, 0 if why else 2.0, run, 30, why)
