"""The command line of this example: flags, defaults, and the resulting options."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from examples.programs.command_line import StrictParser, expanded, number, whole_number
from examples.programs.options import TrainingOptions, add_training_options, typed_options
from examples.two_tower.data_sources import NAMES, find_data
from examples.two_tower.model import Shape
from snippets.errors import UsageError

SIZES = {
    "tiny": {"width": 64, "layers": 1, "state": 16},
    "small": {"width": 128, "layers": 2, "state": 16},
    "origin": {"width": 768, "layers": 8, "state": 128},
}
RECIPES = {
    "pages": {"size": "small", "epochs": 8, "batch_size": 64, "lr": 1e-4, "dropout": 0.3},  # seconds on a CPU
    "generated": {"size": "tiny", "tower": "gru", "epochs": 10, "batch_size": 64, "lr": 2e-3, "dropout": 0.0},
    "texts": {
        "size": "small",
        "epochs": 8,
        "batch_size": 64,
        "lr": 1e-4,
        "dropout": 0.3,
        "same_article_k": 0,
    },
    "file": {"size": "origin", "epochs": 5, "batch_size": 256, "lr": 1e-4, "dropout": 0.0},  # the guide's
}
QUICK = {"epochs": 1, "max_steps": 20, "width": 64, "layers": 1}  # tests that all runs, not that it learns

FORMER = {  # their names in the guide's project
    "--train-npz": "--data",
    "--save-dir": "--out",
    "--num-workers": "--workers",
    "--d-model": "--width",
    "--n-layers": "--layers",
    "--d-state": "--state",
    "--conv-sz": "--conv",
    "--p-cache-npy": "--p-cache",
    "--nearmiss-jsonl": "--near-misses",
    "--nearmiss-bank": "--near-misses",
}
HELP = {
    "data": f"{', '.join(NAMES)}, a folder of encode.py, a .npz file, or a folder with its arrays; pages",
    "epochs": "8, generated: 10, ready vectors: 5",
    "batch-size": "64, ready vectors: 256",
    "lr": "1e-4, generated: 2e-3",
    "weight-decay": "0.01",
    "seed": "split, weights, order, dropout; 0",
    "out": "runs/two_tower/<time>",
    "quick": "at most 20, at width 64 with one layer",
}


@dataclass(frozen=True, kw_only=True)
class Options(TrainingOptions):
    """All options of a run with their final values."""

    data: str = "pages"
    data_name: str = "pages"  # or "generated", "texts" or "file"
    weight_decay: float = 0.01
    size: str
    width: int
    layers: int
    state: int
    tower: str = "ssm"
    conv: int = 4
    expand: int = 2
    dropout: float
    temperature: float = 0.07
    learn_temperature: bool = False
    same_article_k: int = 3
    near_miss_k: int = 1
    near_misses: str | None = None  # a file; None: the run finds them before each epoch
    p_cache: str | None = None
    start_from: str | None = None  # a checkpoint with the initial weights
    val_split: float = 0.2  # share of the rows, by article
    rows: int = 2_400  # of generated data
    noise: float = 1.4  # of generated payloads

    DERIVED = frozenset({"data_name"})

    def shape(self) -> Shape:
        """Return the sizes that determine the number of weights."""
        return Shape(self.width, self.layers, self.tower, self.state, self.expand, self.conv)


def read_command_line(argv: Sequence[str] | None) -> dict[str, Any]:
    """Return the options on the command line, without defaults. Raises UsageError."""
    parser = StrictParser(
        prog="train.py",
        description="Train two towers for retrieval. With no option: this handbook's texts.",
        former=FORMER,
    )
    add_training_options(parser, HELP)
    add = parser.add_argument
    add(
        "--size",
        choices=tuple(SIZES),
        help="width, layers and state; small, generated: tiny, ready vectors: origin",
    )
    add("--width", type=whole_number(8, 8192), help="of the layers; 128")
    add("--layers", type=whole_number(1, 64), help="of the context tower; 2")
    add("--tower", choices=("ssm", "gru"), help="state-space blocks, or a GRU; ssm, generated: gru")
    add("--state", type=whole_number(1, 1024), help="numbers that a channel of a block remembers; 16")
    add("--conv", type=whole_number(1, 16), help="positions that a block's convolution sees; 4")
    add("--expand", type=whole_number(1, 8), help="channels in a block, per width; 2")
    add("--dropout", type=number(0, 1, below=True), help="share of the input left out; texts: 0.3, else 0")
    add("--temperature", type=number(0.01, 10), help="divides the scores; 0.07")
    learn: dict[str, Any] = {"action": "store_true", "default": None}
    add("--learn-temperature", **learn, help="train the temperature as well")
    add(
        "--same-article-k",
        type=whole_number(0, 1000),
        help="extra negatives of the own article; 3, encoded texts: 0",
    )
    add("--near-miss-k", type=whole_number(0, 1000), help="extra negatives that score high; 1")
    add("--near-misses", metavar="FILE.jsonl", help="take these; with --p-cache and --start-from")
    add("--p-cache", metavar="FILE.npy", help="payload vectors for extra negatives; with --start-from")
    add("--start-from", metavar="CHECKPOINT", help="begin with the weights of another run")
    add("--val-split", type=number(0, 1, above=True, below=True), help="share held out, whole articles; 0.2")
    add("--rows", type=whole_number(200, 10**7), help="number to generate; 2400")
    add("--noise", type=number(0, 100), help="of generated payloads; 1.4")
    return typed_options(parser, argv)


def resolve(typed: dict[str, Any]) -> Options:
    """Return the typed options with the defaults of their data and size. Raises UsageError."""
    name = find_data(typed.get("data", Options.data))
    recipe = RECIPES[name]
    values: dict[str, Any] = {**recipe, **SIZES[typed.get("size", recipe["size"])]}
    values |= QUICK if "quick" in typed else {}
    values |= {option: value for option, value in typed.items() if option in Options.__dataclass_fields__}
    for option in ("near_misses", "p_cache", "start_from", *(["data"] if name in ("texts", "file") else [])):
        if values.get(option) is not None:  # a run may be resumed from another folder
            values[option] = str(Path(expanded(values[option])).resolve())
    if values.get("p_cache") and not values.get("start_from"):
        raise UsageError("--p-cache needs --start-from: to new weights, the vectors of others mean nothing")
    if values.get("near_misses") and not values.get("p_cache"):
        raise UsageError("--near-misses needs --p-cache: the vectors of what is named there")
    if values.get("near_misses") and values.get("near_miss_k") == 0:
        raise UsageError("--near-misses has no effect with --near-miss-k 0; leave out one of them")
    if values["batch_size"] == 1:
        raise UsageError("--batch-size 1: the other pairs of a batch are the negatives; it takes at least 2")
    return Options(**values | {"data_name": name})
