"""The command line of this example: flags, defaults, and the resulting options."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas

from examples.indicator_transformer.model import SIZES
from examples.programs.command_line import StrictParser, expanded, number, whole_number
from examples.programs.options import TrainingOptions, add_training_options, typed_options
from snippets.errors import UsageError

NAMES = ("bars", "goog", "table")
A_DAY = pandas.Timedelta(days=1)
SECONDS = {"indicators": 24, "epochs": 6, "batch_size": 64, "lr": 3e-3}  # on a CPU
HOURS = {"indicators": 111, "epochs": 50, "batch_size": 32, "lr": 1e-4}  # the guide's recipe
RECIPES = {"small": SECONDS, "origin": HOURS, "medium": HOURS, "large": HOURS}
STRIDES = {"bars": 60, "goog": 1, "table": 1}
FOLDER_STRIDES = {"within a day": 60, "days": 1}  # chosen by the interval of the bars
QUICK = {"epochs": 1, "max_steps": 20, "bars": 30_000}  # tests that everything runs, not that it learns

HELP = {
    "data": f"{', '.join(NAMES)}, or a file or folder of prices as vendors write them; bars",
    "epochs": "6, larger networks: 50",
    "batch-size": "64, larger networks: 32",
    "lr": "3e-3, larger networks: 1e-4",
    "weight-decay": "1e-5",
    "seed": "weights, order, dropout; not the generated bars; 0",
    "out": "runs/indicator_transformer/<time>",
    "quick": "at most 20, on 30,000 generated bars",
}


@dataclass(frozen=True, kw_only=True)
class Options(TrainingOptions):
    """All options of a run with their final values."""

    data: str = "bars"
    data_name: str = "bars"  # or "goog", "table" or "folder", which may also be a file
    weight_decay: float = 1e-5
    size: str = "small"
    indicators: int
    bars: int = 300_000  # of generated data: 208 days of minutes
    rows: int = 5_000  # of a generated table
    horizon: int = 20  # bars after a sample that determine usefulness
    stride: int | None = None  # bars between samples; None: by FOLDER_STRIDES
    val_split: float = 0.2  # share of the samples, the latest ones
    max_missing: float = 0.01  # share of the bars of a symbol, within its sessions

    MAY_CHANGE = TrainingOptions.MAY_CHANGE | {"max_missing"}
    DERIVED = frozenset({"data_name"})

    def stride_of(self, interval: pandas.Timedelta) -> int:
        """Return the number of bars between two samples for bars with this interval."""
        return self.stride or FOLDER_STRIDES["days" if interval >= A_DAY else "within a day"]


def find_data(text: str) -> str:
    """Return "bars", "goog", "table" or "folder" for `--data`. Raises UsageError."""
    if text in NAMES:
        return text
    if not expanded(text).exists():
        raise UsageError(f"--data {text}: neither {' nor '.join(NAMES)} nor an existing file or folder")
    return "folder"


def read_command_line(argv: Sequence[str] | None) -> dict[str, Any]:
    """Return the options on the command line, without defaults. Raises UsageError."""
    parser = StrictParser(
        prog="train.py",
        description="Train a transformer to select technical indicators. With no option: generated bars.",
    )
    add_training_options(parser, HELP)
    add = parser.add_argument
    add("--size", choices=tuple(SIZES), help="of the network: 0.04, 4.9, 38 or 153 million parameters; small")
    add("--indicators", type=int, choices=(24, 111), help="24, larger networks: 111")
    add("--bars", type=whole_number(2_000, 10**8), help="number to generate; 300000")
    add("--rows", type=whole_number(100, 10**7), help="of the table to generate; 5000")
    add("--horizon", type=whole_number(1, 10_000), help="bars ahead that labels look; 20")
    add(
        "--stride",
        type=whole_number(1, 10**6),
        help="bars from sample to sample; 60, bars of a day and longer: 1",
    )
    add("--val-split", type=number(0, 1, above=True, below=True), help="share held out, the latest; 0.2")
    add("--max-missing", type=number(0, 1), help="share of the bars that may be missing; 0.01")
    return typed_options(parser, argv)


def resolve(typed: dict[str, Any]) -> Options:
    """Return the typed options with the defaults of their data and size. Raises UsageError."""
    name = find_data(typed.get("data", Options.data))
    values: dict[str, Any] = {"stride": STRIDES.get(name), **RECIPES[typed.get("size", Options.size)]}
    values |= QUICK if "quick" in typed else {}
    values |= {option: value for option, value in typed.items() if option in Options.__dataclass_fields__}
    if name == "folder":  # a run may be resumed and evaluated from another working folder
        values["data"] = str(expanded(values["data"]).resolve())
    return Options(**values | {"data_name": name})
