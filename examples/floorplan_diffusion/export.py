"""Export trained networks: weights as plain types, and a program that runs without this code.

With no option, it exports the newest run of each stage into its folder export/. Every file is loaded again
and must give the same outputs as the trained network, bit for bit on the CPU.
"""

import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the folder of examples/ and snippets/
try:
    from examples.programs import imports

    imports.prepare(__file__)
except ModuleNotFoundError:
    print(f"error: {__file__} needs examples/ and snippets/, as in the handbook; copy both", file=sys.stderr)
    sys.exit(2)

from dataclasses import asdict, dataclass

import torch
from torch import nn
from torch.export import Dim

from examples.floorplan_diffusion.diffusion import STEPS
from examples.floorplan_diffusion.edge_network import EdgeNetwork, all_pairs
from examples.floorplan_diffusion.node_network import CHANNELS, NodeNetwork
from examples.floorplan_diffusion.plans import CANVAS, KINDS
from examples.floorplan_diffusion.trained import EDGES, NODES, Stage, Trained, load_trained
from examples.programs.command_line import StrictParser, expanded, first_line
from examples.programs.exported import CHECKED, Export, Inputs, check_files, write_files
from snippets.errors import exit_with_one_line, tell

COMPARED = (3, 5), (1, 2), (2, 18)  # plans, and corners of each; the program accepts other numbers


def node_inputs(plans: int, corners: int) -> Inputs:
    """Return noisy corners (plans, corners, 10) and steps (plans,), with a fixed seed."""
    generator = torch.Generator().manual_seed(0)
    nodes = torch.randn(plans, corners, CHANNELS, generator=generator)
    return nodes, torch.randint(STEPS, (plans,), generator=generator)


def edge_inputs(plans: int, corners: int) -> Inputs:
    """Return the inputs of EdgeNetwork for plans that each have one corner less than the one before."""
    generator = torch.Generator().manual_seed(0)
    pairs = all_pairs(corners, torch.device("cpu"))
    counts = corners - (torch.arange(plans) % max(1, corners - 1))
    places = torch.randint(CANVAS, (plans, corners, 2), generator=generator).float()
    bits = torch.randint(2, (plans, corners, len(KINDS)), generator=generator).float()
    fractions = torch.rand(plans, pairs.shape[1], generator=generator)
    return places, bits, pairs, pairs[1] < counts.unsqueeze(1), fractions


PLANS, CORNERS, PAIRS = Dim("plans", min=1), Dim("corners", min=2), Dim("pairs", min=1)
OF_CORNERS, OF_PAIRS = {0: PLANS, 1: CORNERS}, {0: PLANS, 1: PAIRS}


@dataclass(frozen=True)
class Form:
    """The export of a stage: the name of its files, its network, its inputs and their dynamic sizes."""

    stage: Stage
    name: str
    network: type[nn.Module]
    inputs: Callable[[int, int], Inputs]
    varying: dict[str, dict[int, Dim]]
    says: str


FORMS = (
    Form(
        NODES,
        "nodes",
        NodeNetwork,
        node_inputs,
        {"nodes": OF_CORNERS, "steps": {0: PLANS}},
        "any number of plans and corners",
    ),
    Form(
        EDGES,
        "edges",
        EdgeNetwork,
        edge_inputs,
        {
            "corners": OF_CORNERS,
            "bits": OF_CORNERS,
            "pairs": {1: PAIRS},
            "real": OF_PAIRS,
            "fractions": OF_PAIRS,
        },
        "any number of plans, corners and pairs",
    ),
)


def export_of(form: Form, trained: Trained) -> Export:
    """Return what exports the network of a stage."""
    options = asdict(trained.options)
    content = {
        "network": {name: options[name] for name in ("width", "layers", "heads")},  # arguments of its class
        "places": trained.places,  # corners per plan in training
        "options": options,
        "step": trained.content["step"],
    }
    return Export(
        form.name, trained.network, content, form.network, form.inputs, COMPARED, form.varying, form.says
    )


def read_command_line(argv: Sequence[str] | None) -> Namespace:
    """Return the options. Raises UsageError."""
    parser = StrictParser(prog="export.py", description=first_line(__doc__))
    run: dict[str, Any] = {"type": expanded, "nargs": "?", "const": True, "metavar": "RUN|CHECKPOINT"}
    for form in FORMS:
        about = f"stage {form.stage.number} only; of the newest run in {form.stage.runs}, or of this one"
        parser.add_argument(f"--{form.name}", **run, help=about)
    parser.add_argument("--out", type=expanded, metavar="DIR", help="export/ in the folder of the run")
    options = parser.parse_args(argv)
    if options.nodes is None and options.edges is None:
        options.nodes = options.edges = True
    return options


def main(argv: Sequence[str] | None = None) -> int:
    """Export the runs of the command line and return the exit code. Raises UsageError and RunError."""
    options = read_command_line(argv)
    named = ((form, getattr(options, form.name)) for form in FORMS)  # a run; True is the newest one
    chosen = [(form, load_trained(form.stage, None if run is True else run)) for form, run in named if run]
    for form, trained in chosen:
        export, folder = export_of(form, trained), options.out or trained.folder / "export"
        check_files(export, folder)
        lines = [f"stage {form.stage.number}    {trained.checkpoint}, step {trained.content['step']:,}"]
        lines += [f"note       {trained.note}"] if trained.note else []
        tell("\n".join(lines + write_files(export, folder)))
    print(CHECKED)
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
