"""Export a trained classifier: weights with the names of the classes, and a program that needs only PyTorch.

Its input are tokens, int64 (sequences, length), as tokens.py makes them, padded on the left; its output are
scores of the classes. Every file is loaded again and has to compute the same.
"""

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the folder of examples/ and snippets/
try:
    from examples.programs import imports

    imports.prepare(__file__)
except ModuleNotFoundError:
    print(f"error: {__file__} needs examples/ and snippets/, as in the handbook; copy both", file=sys.stderr)
    sys.exit(2)

import torch

from examples.genomic_caduceus.mamba import Backbone
from examples.genomic_caduceus.model import Classifier
from examples.genomic_caduceus.tokens import FIRST_BASE, PAD, UNKNOWN_BASE
from examples.genomic_caduceus.trained_classifier import TrainedClassifier, load_classifier
from examples.programs.command_line import StrictParser, expanded, whole_number
from examples.programs.exported import CHECKED, Export, Inputs, check_files, write_files
from examples.programs.trained import folder_of
from snippets.errors import exit_with_one_line, tell


def build(width: int, layers: int, state: int, classes: int, both_strands: bool) -> Classifier:
    """Return a new network without gradients, which its program could not compute either.

    With `both_strands`, its scores are the mean of both.
    """
    network = Classifier(Backbone(width, layers, state), classes, both_strands=both_strands)
    return network.requires_grad_(False)


def random_tokens(length: int, sequences: int) -> Inputs:
    """Return tokens of random sequences (sequences, length), the first of which is padded to half."""
    generator = torch.Generator().manual_seed(0)
    tokens = torch.randint(FIRST_BASE, UNKNOWN_BASE + 1, (sequences, length), generator=generator)
    tokens[0, : length // 2] = PAD
    return (tokens,)


def export_of(trained: TrainedClassifier, sequences: int) -> Export:
    """Return what exports a classifier, for so many sequences at a time."""
    options = trained.options
    sizes = {name: options[name] for name in ("width", "layers", "state")}
    both = trained.network.both_strands or bool(options.get("conjoin_test"))
    arguments = {**sizes, "classes": len(trained.names), "both_strands": both}
    network = build(**arguments)
    network.load_state_dict(trained.network.state_dict())
    content = {
        "network": arguments,
        "classes": list(trained.names),
        "length": trained.length,
        "options": options,
    }
    return Export(
        "classifier",
        network.eval(),
        content,
        build,
        partial(random_tokens, trained.length),
        [(sequences,)],
        {"tokens": {}},
        f"{sequences} sequences of {trained.length:,} tokens at a time",
    )


def read_command_line(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return the options. Raises UsageError."""
    whole = argparse.RawDescriptionHelpFormatter
    parser = StrictParser(prog="export.py", description=__doc__, formatter_class=whole)
    add = parser.add_argument
    add("run", type=expanded, help="folder of a run of train.py, or a checkpoint in it")
    add("--out", type=expanded, metavar="DIR", help="export/ in the folder of the run")
    add("--batch-size", type=whole_number(1, 4096), default=1, help="sequences at a time; 1")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Export a run and return the exit code. Raises UsageError and RunError."""
    options = read_command_line(argv)
    trained = load_classifier(options.run)
    export = export_of(trained, options.batch_size)
    folder = options.out or folder_of(trained.checkpoint) / "export"
    check_files(export, folder)
    lines = [f"network    {trained.checkpoint}; classes {', '.join(trained.names)}"]
    lines += [f"note       {trained.note}"] if trained.note else []
    tell("\n".join([*lines, *write_files(export, folder)]))
    print(CHECKED)
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
