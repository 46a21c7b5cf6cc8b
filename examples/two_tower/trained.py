"""A trained network and the data of its run, for the programs that use what train.py made."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import torch

from examples.two_tower.data_sources import load_pairs
from examples.two_tower.model import TwoTowers
from examples.two_tower.options import Options
from examples.two_tower.pairs import Pairs
from examples.two_tower.train import PROGRAM, build_network
from snippets.checkpoints import check_weights
from snippets.framework.command_line import StrictParser
from snippets.framework.errors import UsageError
from snippets.framework.trained_run import folder_of, load_best, newest_trained
from snippets.framework.training_options import check_saved
from snippets.framework.user_paths import expanded

RUNS = Path("runs") / PROGRAM.system
FIRST = "python examples/two_tower/train.py"


@dataclass
class Trained:
    """A network that has learned, and from what."""

    model: TwoTowers
    pairs: Pairs
    held_out: torch.Tensor  # bool (rows,)
    options: Options
    content: dict[str, Any]  # of the checkpoint
    checkpoint: Path
    note: str | None  # to be told to the user

    @property
    def folder(self) -> Path:
        """Return the run folder, or, of a checkpoint that lies elsewhere, the folder in which it lies."""
        return folder_of(self.checkpoint)


def add_run(parser: StrictParser) -> None:
    """Add the argument that says which run is meant, and the device."""
    parser.add_argument(
        "run",
        nargs="?",
        type=expanded,
        metavar="RUN|CHECKPOINT",
        help=f"run folder, or a .pt file in it; the newest run in {RUNS}",
    )
    devices = ("auto", "mps", "cuda", "cpu")
    parser.add_argument("--device", default="auto", choices=devices, help="auto: CUDA, then MPS, then CPU")


def load_trained(run: Path | None) -> Trained:
    """Return the network of a run folder or checkpoint, or of the newest run, on the CPU, with its data.

    Raises UsageError when there is none, or its data are gone or have changed.
    """
    content, checkpoint, note = load_best(run or newest_trained(RUNS, "trained run", FIRST), PROGRAM.system)
    saved, kept = (content["config"].get(name) for name in ("options", "held_out_articles"))
    known = isinstance(saved, dict) and saved.keys() == {field.name for field in fields(Options)}
    if not known or not isinstance(kept, list) or not all(type(article) is int for article in kept):
        raise UsageError(f"{checkpoint} was made by another version of this program; train again")
    check_saved({"options": saved}, PROGRAM.read_command_line, Options, checkpoint)
    options = Options(**saved)
    pairs = load_pairs(options.data, options.rows, options.noise, options.seed)
    if pairs.fingerprint() != content["config"].get("pairs_crc32"):
        raise UsageError(f"the content of --data {options.data} is not what {checkpoint} learned from")
    model = build_network(options, pairs.contexts.shape[2])
    check_weights(model, content["model"])
    model.load_state_dict(content["model"])
    held_out = torch.isin(pairs.articles, torch.tensor(kept))
    return Trained(model.eval(), pairs, held_out, options, content, checkpoint, note)
