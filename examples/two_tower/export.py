"""Export both trained towers: weights as plain types, programs that run without this code, and ONNX.

With no option, it exports the newest run into its folder export/. Every file is loaded again and compared
with the trained network.
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

from dataclasses import asdict

import torch
from torch import nn
from torch.export import Dim

from examples.programs.command_line import StrictParser, expanded, first_line
from examples.programs.exported import CHECKED, Export, Inputs, check_files, write_files
from examples.two_tower.model import ContextTower, PayloadTower, Shape, StateSpaceBlock
from examples.two_tower.trained import Trained, add_run, load_trained
from snippets.errors import RunError, exit_with_one_line, tell
from snippets.selective_scan import selective_scan_reference

TEXTS = {0: Dim("texts", min=1)}
COMPARED = (3,), (1,), (64,)  # texts; the programs accept other numbers


CLOSE = 1e-5  # differences of unit vectors: both scans round in another order


def exportable(tower: nn.Module) -> nn.Module:
    """Return a tower whose blocks scan by a loop, which torch.export can follow for any number of texts."""
    for block in tower.modules():
        if isinstance(block, StateSpaceBlock):
            block.scan = selective_scan_reference  # type: ignore[method-assign]
    return tower.eval()


def plain_copy(make: Callable[..., nn.Module], of: nn.Module, network: dict[str, Any]) -> nn.Module:
    """Return an exportable tower with the weights of `of`."""
    tower = make(**network)
    tower.load_state_dict(of.state_dict())
    return tower


@torch.no_grad()
def check_scan(trained: Trained, tower: nn.Module) -> float:
    """Return by how much the vectors of an exportable tower differ from the trained ones. Raises RunError."""
    contexts = trained.pairs.contexts[:64]
    difference = (tower(contexts) - trained.model.context(contexts)).abs().max().item()
    if not difference <= CLOSE:
        raise RunError(
            f"the exported tower would differ by {difference:.1g} from the trained one; nothing is written"
        )
    return difference


def query_tower(width_in: int, **shape: Any) -> nn.Module:
    """Return a new tower for texts that search."""
    return exportable(ContextTower(width_in, Shape(**shape)))


def document_tower(width_in: int, width: int) -> nn.Module:
    """Return a new tower for texts that are found."""
    return exportable(PayloadTower(width_in, width))


def exports_of(trained: Trained) -> list[Export]:
    """Return what exports the tower of queries and the tower of documents."""
    options, model = asdict(trained.options), trained.model
    positions, width = trained.pairs.contexts.shape[1:]
    query = {"width_in": width, **asdict(trained.options.shape())}
    document = {"width_in": width, "width": trained.options.width}

    def vectors(*shape: int) -> Inputs:
        return (torch.randn(shape, generator=torch.Generator().manual_seed(0)),)

    def content(network: dict[str, Any]) -> dict[str, Any]:
        return {"network": network, "options": options, "step": trained.content["step"]}

    return [
        Export(
            "query",
            plain_copy(query_tower, model.context, query),
            content(query),
            query_tower,
            lambda texts: vectors(texts, positions, width),
            COMPARED,
            {"contexts": TEXTS},
            f"any number of texts as {positions} vectors of {width} numbers",
        ),
        Export(
            "document",
            plain_copy(document_tower, model.payload, document),
            content(document),
            document_tower,
            lambda texts: vectors(texts, width),
            COMPARED,
            {"payloads": TEXTS},
            f"any number of texts as a vector of {width} numbers",
        ),
    ]


def read_command_line(argv: Sequence[str] | None) -> Namespace:
    """Return the options. Raises UsageError."""
    parser = StrictParser(prog="export.py", description=first_line(__doc__))
    add_run(parser, device=False)
    parser.add_argument("--out", type=expanded, metavar="DIR", help="export/ in the folder of the run")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Export the run of the command line and return the exit code. Raises UsageError and RunError."""
    options = read_command_line(argv)
    trained = load_trained(options.run)
    folder = options.out or trained.folder / "export"
    exports = exports_of(trained)
    for export in exports:
        check_files(export, folder)
    tell(f"network    {trained.checkpoint}, step {trained.content['step']:,}")
    if trained.note:
        tell(f"note       {trained.note}")
    difference = check_scan(trained, exports[0].network)
    for export in exports:
        for line in write_files(export, folder):
            tell(line)
    print(CHECKED)
    if difference:
        print(f"           query: with the scan as a loop, whose vectors differ by at most {difference:.0e}")
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
