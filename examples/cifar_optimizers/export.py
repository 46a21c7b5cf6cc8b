"""Export a trained network: weights as plain types, a program for PyTorch alone, and ONNX where installed.

Inputs are normalised images (count, 3, size, size), float32: value / 255, minus mean, divided by std; the
weights' file holds mean, std and the names of the classes. Outputs are scores (count, classes).
"""

import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the folder of examples/ and snippets/
try:
    from examples.programs import imports

    imports.prepare(__file__)
except ModuleNotFoundError:
    print(f"error: {__file__} needs examples/ and snippets/, as in the handbook; copy both", file=sys.stderr)
    sys.exit(2)

from dataclasses import asdict

import torch
from torch.export import Dim

from examples.cifar_optimizers.model import ResNet18
from examples.cifar_optimizers.trained import Trained, load_trained
from examples.programs.command_line import StrictParser, expanded, first_line
from examples.programs.exported import CHECKED, Export, Inputs, check_files, write_files
from examples.programs.trained import folder_of
from snippets.errors import exit_with_one_line, tell


def export_of(trained: Trained) -> Export:
    """Return what exports a network: its inputs, and what is stored beside its weights."""
    size, options = trained.options.image_size, asdict(trained.options)

    def inputs(count: int) -> Inputs:
        generator = torch.Generator().manual_seed(0)
        return (torch.randn(count, 3, size, size, generator=generator),)

    content = {
        "network": {"classes": len(trained.names), "width": trained.options.width},  # arguments of its class
        "class_names": list(trained.names),
        "image_size": size,
        "mean": trained.mean.flatten().tolist(),
        "std": trained.std.flatten().tolist(),
        "options": options,
        "step": trained.step,
    }
    varying = {"images": {0: Dim("count", min=1)}}
    says = f"any number of pictures of {size}×{size} pixels"
    return Export("network", trained.network, content, ResNet18, inputs, ((3,), (1,), (16,)), varying, says)


def read_command_line(argv: Sequence[str] | None) -> Namespace:
    """Return the options. Raises UsageError."""
    parser = StrictParser(prog="export.py", description=first_line(__doc__))
    parser.add_argument("run", type=expanded, metavar="RUN|CHECKPOINT", help="of a run, the best network")
    parser.add_argument("--out", type=expanded, metavar="DIR", help="export/ in the folder of the run")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Export the network of a run and return the exit code. Raises UsageError and RunError."""
    options = read_command_line(argv)
    trained = load_trained(options.run)
    export, folder = export_of(trained), options.out or folder_of(trained.checkpoint) / "export"
    check_files(export, folder)
    lines = [f"network    {trained.checkpoint}, step {trained.step:,}"]
    lines += [f"note       {trained.note}"] if trained.note else []
    tell("\n".join(lines + write_files(export, folder)))
    print(CHECKED)
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
