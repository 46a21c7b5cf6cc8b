"""Load a trained network and the data of its run, for programs that use it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from examples.programs.command_line import StrictParser, expanded
from examples.programs.options import check_saved, of_this_version
from examples.programs.trained import check_computed, filled, folder_of, load_best, newest_trained
from examples.two_tower.data_sources import load_pairs
from examples.two_tower.encoders import Encoder, encoder_of
from examples.two_tower.model import TwoTowers
from examples.two_tower.options import Options
from examples.two_tower.pairs import Pairs
from examples.two_tower.train import PROGRAM, build_network
from snippets.errors import UsageError

RUNS = Path("runs") / PROGRAM.system
FIRST = "python examples/two_tower/train.py"


@dataclass
class Trained:
    """A trained network and its data."""

    model: TwoTowers
    pairs: Pairs
    held_out: torch.Tensor  # bool (rows,)
    options: Options
    content: dict[str, Any]  # of the checkpoint
    checkpoint: Path
    note: str | None  # for the user

    @property
    def folder(self) -> Path:
        """Return the run folder, or the folder of a checkpoint that is in no run folder."""
        return folder_of(self.checkpoint)


def encoder_for(trained: Trained, device: torch.device) -> Encoder:
    """Return the encoder of a run's data. Raises UsageError when they came as vectors."""
    encoder = trained.pairs.encoder or encoder_of(Path(trained.options.data), device)
    if encoder is None:
        raise UsageError(
            f"{trained.checkpoint} learned from --data {trained.options.data}, ready vectors, so "
            "nothing here turns texts into such; train with texts (encode.py)"
        )
    return encoder


def add_run(parser: StrictParser, *, device: bool = True) -> None:
    """Add the argument for the run, and that for the device."""
    parser.add_argument(
        "run",
        nargs="?",
        type=expanded,
        metavar="RUN|CHECKPOINT",
        help=f"run folder, or a .pt file in it; the newest run in {RUNS}",
    )
    if not device:
        return
    devices = ("auto", "mps", "cuda", "cpu")
    parser.add_argument("--device", default="auto", choices=devices, help="auto: CUDA, then MPS, then CPU")


def load_trained(run: Path | None) -> Trained:
    """Return the network of a run folder or checkpoint, or of the newest run, on the CPU, with its data.

    Raises UsageError when there is none, or its data are missing or changed.
    """
    content, checkpoint, note = load_best(run or newest_trained(RUNS, "trained run", FIRST), PROGRAM.system)
    saved, kept = (content["config"].get(name) for name in ("options", "held_out_articles"))
    known = "steps_per_epoch" in content["config"] and of_this_version(saved, Options)
    if not known or not isinstance(kept, list) or not all(type(article) is int for article in kept):
        raise UsageError(f"{checkpoint} was made by another version of this program; train again")
    check_saved({"options": saved}, PROGRAM.read_command_line, Options, checkpoint)
    options = Options(**saved)
    content.pop("progress", None)  # perhaps with the vectors of an epoch's negatives, which take memory
    pairs = load_pairs(options.data, options.rows, options.noise, options.seed)
    if pairs.fingerprint() != content["config"].get("pairs_crc32"):
        raise UsageError(f"the content of --data {options.data} is not what {checkpoint} learned from")
    model = filled(lambda: build_network(options, pairs.contexts.shape[2]), content["model"])
    for tower in (model.context, model.payload):
        tower.register_forward_hook(check_computed)
    held_out = torch.isin(pairs.articles, torch.tensor(kept, dtype=torch.int64))
    if not held_out.any() or held_out.all():
        raise UsageError(f"the articles that {checkpoint} names as held out are none, or all; name another")
    return Trained(model, pairs, held_out, options, content, checkpoint, note)
