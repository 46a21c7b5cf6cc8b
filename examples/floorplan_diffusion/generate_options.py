"""The command line of generate.py: flags, defaults, and the options that determine the plans."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from examples.floorplan_diffusion.diffusion import STEPS
from examples.floorplan_diffusion.packed_networks import BUNDLED
from examples.floorplan_diffusion.trained import EDGES, NODES
from examples.programs.command_line import StrictParser, expanded, number, whole_number
from examples.programs.options import typed_options
from snippets.errors import UsageError

FASTER = 50  # steps of the faster sampler
SNAP = 4.0  # pixels; as far as walls are straightened
FORMATS = ("svg", "png", "dxf", "json")


@dataclass(frozen=True, kw_only=True)
class GenerateOptions:
    """The options that determine the plans: equal values give equal plans."""

    nodes: str | None = None  # a run folder or checkpoint of stage 1; None: the newest run
    edges: str | None = None
    count: int = 64
    batch_size: int = 64
    sampler: str = "ddpm"
    steps: int
    threshold: float = 0.5
    seed: int = 0

    DERIVED: ClassVar[frozenset[str]] = frozenset()

    @property
    def eta(self) -> float:
        """Return the share of DDPM's noise that sampling adds at each step."""
        return 1.0 if self.sampler == "ddpm" else 0.0


def read_command_line(argv: Sequence[str] | None) -> dict[str, Any]:
    """Return the options on the command line, without defaults. Raises UsageError."""
    what = "Draw floor plans: noise becomes corners, corners get walls, walls make rooms."
    parser = StrictParser(prog="generate.py", description=what)
    add = parser.add_argument
    run: dict[str, Any] = {"type": lambda text: str(expanded(text)), "metavar": "RUN|CHECKPOINT"}
    add("--nodes", **run, help=f"stage 1; the newest run in {NODES.runs}")
    add("--edges", **run, help=f"stage 2; the newest run in {EDGES.runs}")
    add("--count", type=whole_number(1, 10**6), help="plans to draw; 64")
    add("--batch-size", type=whole_number(1, 10**5), help="plans that are drawn at a time; 64")
    add("--sampler", choices=("ddpm", "ddim"), help="ddim: few steps, no new noise; ddpm")
    add("--steps", type=whole_number(2, STEPS), help=f"of sampling; ddpm: {STEPS}, ddim: {FASTER}")
    add("--threshold", type=number(0, 1, above=True, below=True), help="below it, a corner; 0.5")
    straight: dict[str, Any] = {"action": argparse.BooleanOptionalAction, "default": None}
    add("--straighten", **straight, help="draw walls that are nearly level or upright as such; on")
    snap = (
        f"put lines of corners that are up to this many pixels apart on one line, before the walls; {SNAP:g}"
    )
    add("--snap", type=number(0, 32), help=snap)
    add("--bundled", action="store_true", default=None, help="the networks that come with the handbook")
    forms = f"files of each plan, of {', '.join(FORMATS)}, separated by commas; svg"
    add("--format", dest="formats", type=formats, metavar="LIST", help=forms)
    add("--pixels-per-metre", type=number(0, 1e4, above=True), help="scale of DXF; pixels, without a unit")
    add("--seed", type=whole_number(0, 2**32 - 1), help="of the noise; 0")
    add("--device", choices=("auto", "mps", "cuda", "cpu"), help="auto: CUDA, then MPS, then CPU")
    add("--out", type=expanded, metavar="DIR", help="runs/floorplan_diffusion/generate/<time>")
    resume = "go on where it was stopped; auto: in --out or the newest folder with these options"
    add("--resume", metavar="auto|DIR", help=resume)
    typed = typed_options(parser, argv)
    if typed.pop("bundled", False):
        for stage in ("nodes", "edges"):
            if typed.setdefault(stage, str(BUNDLED)) != str(BUNDLED):
                raise UsageError(f"--bundled and --{stage}: name the networks once")
    return typed


def formats(text: str) -> tuple[str, ...]:
    """Return the formats of a list such as "svg,dxf". Raises ArgumentTypeError."""
    wanted = tuple(text.split(","))
    for name in wanted:
        if name not in FORMATS:
            raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(FORMATS)}")
    return wanted


def resolve(values: dict[str, Any]) -> GenerateOptions:
    """Return the options in `values`, with defaults for the others."""
    steps = FASTER if values.get("sampler") == "ddim" else STEPS
    known = GenerateOptions.__dataclass_fields__
    return GenerateOptions(
        **{"steps": steps} | {name: value for name, value in values.items() if name in known}
    )
