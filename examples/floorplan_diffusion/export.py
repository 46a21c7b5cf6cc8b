"""Export trained networks: weights as plain types, and a program that runs without this code.

With no option, it exports the newest run of each stage into its folder export/. Every file is loaded again
and must give the same outputs as the trained network, bit for bit on the CPU.
"""

import contextlib
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
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
from examples.programs.run_folder import check_target, temporary_folder
from snippets.atomic_write import replace_file
from snippets.errors import RunError, exit_with_one_line
from snippets.foreign_files import open_regular

Inputs = tuple[torch.Tensor, ...]
# foreign_reads: what it has just written, and regular files
TRACED = 3, 5  # plans, and corners of each; the program accepts other numbers
COMPARED = TRACED, (1, 2), (2, 18)  # the numbers for which the outputs are compared


# --8<-- [start:inputs]
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


# --8<-- [end:inputs]
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


# --8<-- [start:weights]
def write_weights(path: Path, form: Form, trained: Trained) -> nn.Module:
    """Write weights and their options to `path`; return a new network loaded from it."""
    options = asdict(trained.options)
    content = {
        "network": {name: options[name] for name in ("width", "layers", "heads")},  # arguments of its class
        "weights": trained.network.state_dict(),
        "places": trained.places,  # corners per plan in training
        "options": options,
        "step": trained.content["step"],
    }
    replace_file(path, lambda file: torch.save(content, file))
    loaded = torch.load(path, map_location="cpu", weights_only=True)
    network = form.network(**loaded["network"])
    network.load_state_dict(loaded["weights"])
    return network.eval()


# --8<-- [end:weights]
# --8<-- [start:program]
def write_program(path: Path, form: Form, trained: Trained) -> nn.Module:
    """Write a program that needs only PyTorch to `path`; return the network loaded from it."""
    program = torch.export.export(trained.network, form.inputs(*TRACED), dynamic_shapes=form.varying)
    replace_file(path, lambda file: torch.export.save(program, file))
    return torch.export.load(path).module()


# --8<-- [end:program]
def outputs(network: nn.Module, inputs: Inputs) -> Inputs:
    """Return the outputs of a network as a tuple."""
    computed = network(*inputs)
    return (computed,) if isinstance(computed, torch.Tensor) else tuple(computed)


def check(path: Path, form: Form, network: nn.Module, loaded: nn.Module) -> None:
    """Raise RunError unless both networks give equal outputs, bit for bit, for several numbers of corners."""
    for numbers in COMPARED:
        inputs = form.inputs(*numbers)
        both = zip(outputs(network, inputs), outputs(loaded, inputs), strict=True)
        if not all(torch.equal(one, other) for one, other in both):
            raise RunError(f"{path} would not compute what the trained network computes; nothing is written")


def check_files(form: Form, trained: Trained, folder: Path) -> None:
    """Raise UsageError when `folder` has such files that are not an export of this run."""
    weights = folder / f"{form.name}.pt"

    def is_of_this_run(file: Path) -> bool:
        try:
            with open_regular(file) as content:
                options = torch.load(content, map_location="cpu", weights_only=True)["options"]
        except Exception:  # PyTorch raises many errors for other files
            return False
        return options == asdict(trained.options)

    check_target(weights, is_of_this_run)
    check_target(folder / f"{form.name}.pt2", lambda _: weights.exists())


def export(form: Form, trained: Trained, folder: Path) -> list[str]:
    """Write both files of a stage and test them; return the lines to print. Raises RunError and OSError.

    They are written to a temporary folder and renamed when both are right.
    """
    lines = [f"stage {form.stage.number}    {trained.checkpoint}, step {trained.content['step']:,}"]
    lines += [f"note       {trained.note}"] if trained.note else []
    files = (
        (folder / f"{form.name}.pt", write_weights, "weights and options, for this code"),
        (folder / f"{form.name}.pt2", write_program, f"a program for PyTorch alone, {form.says}"),
    )
    with torch.no_grad(), made(folder), temporary_folder(folder / form.name) as temporary:
        for path, write, says in files:
            new = temporary / path.name
            check(path, form, trained.network, write(new, form, trained))
            lines.append(f"written    {path}: {new.stat().st_size / 1e6:.1f} MB, {says}")
        for path, _, _ in files:
            (temporary / path.name).replace(path)
    return lines


@contextlib.contextmanager
def made(folder: Path) -> Iterator[None]:
    """Make `folder` for the block; remove it at the end if it is new and empty."""
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    finally:
        if is_new and not any(folder.iterdir()):
            folder.rmdir()


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
        folder = options.out or trained.folder / "export"
        check_files(form, trained, folder)
        try:
            lines = export(form, trained, folder)
        except OSError as error:
            raise RunError(f"cannot write to {folder}: {error.strerror}; choose another --out") from None
        print(*lines, sep="\n")
    print("checked    loaded again on the CPU, each file computes the same bits as the trained network")
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
