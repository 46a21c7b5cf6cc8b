"""The command line of this example: its flags, their defaults, and what they resolve to."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from examples.cifar_optimizers.data_sources import NAMES, find_data
from examples.cifar_optimizers.optimizers import OPTIMIZERS, SCHEDULES
from snippets.command_line import StrictParser, number, whole_number
from snippets.errors import UsageError
from snippets.resume import check_same_options

# --8<-- [start:defaults]
SMALL = {"width": 8, "image_size": 16, "epochs": 10, "batch_size": 64}  # seconds on a CPU
PUBLISHED = {"width": 64, "image_size": 32, "epochs": 200, "batch_size": 128}  # hours on a GPU
DEFAULTS = {"digits": SMALL, "synthetic": SMALL, "cifar10": PUBLISHED, "cifar100": PUBLISHED}
QUICK = {"width": 8, "epochs": 1, "max_steps": 20}  # does everything runs, not: does it learn
# --8<-- [end:defaults]


@dataclass(frozen=True)
class Options:
    """Every option with the value that holds in this run."""

    device: str = "auto"
    data: str = "digits"
    data_name: str = "digits"  # what `data` turned out to be
    download: bool = False
    skip_checksum: bool = False
    optimizer: str = "sgd"
    width: int = 8
    image_size: int = 16  # pixels
    epochs: int = 10
    max_steps: int | None = None  # None: as many as the epochs have
    batch_size: int = 64
    lr: float = 0.1
    weight_decay: float = 5e-4
    schedule: str = "cosine"
    label_noise: float = 0.0  # share of training labels
    data_fraction: float = 1.0  # share of training images
    seed: int = 0


# Where a run computes and where its data lie may change when it is resumed; the rest decides its result.
MAY_CHANGE = {"device", "data", "download", "skip_checksum", "out", "resume", "quick"}


def read_command_line(argv: Sequence[str] | None) -> dict[str, Any]:
    """Return the options that were typed, without defaults. Raises UsageError."""
    parser = StrictParser(
        prog="train.py",
        description="Train a ResNet-18 with one of six optimizers. With no option: digits, 10 epochs.",
    )
    add = parser.add_argument
    add("--device", choices=("auto", "mps", "cuda", "cpu"), help="auto: CUDA, then MPS, then CPU")
    add("--data", metavar="NAME|FOLDER", help=f"{', '.join(NAMES)}, or a folder with an official CIFAR set")
    add(
        "--download",
        action="store_true",
        help="fetch --data cifar10 or cifar100 into data/ if it is not there",
    )
    add("--skip-checksum", action="store_true", help="accept CIFAR files that are not the official ones")
    add("--optimizer", choices=tuple(OPTIMIZERS), help="sgd")
    add("--width", type=whole_number(1, 512), help="channels of the first layers; 8, CIFAR: 64")
    add("--image-size", type=whole_number(8, 128), help="pixels, for digits and synthetic; 16")
    add("--epochs", type=whole_number(1, 100_000), help="10, CIFAR: 200")
    add("--max-steps", type=whole_number(1, 10**9), help="stop earlier; the schedule ends there too")
    add("--batch-size", type=whole_number(2, 10**6), help="64, CIFAR: 128")
    add("--lr", type=number(0, 1000, above=True), help="learning rate; depends on the optimizer")
    add("--weight-decay", type=number(0, 1000), help="depends on the optimizer")
    add("--schedule", choices=SCHEDULES, help="of the learning rate; cosine falls to 0")
    add("--label-noise", type=number(0, 1, below=True), help="share of training labels made wrong; 0")
    add("--data-fraction", type=number(0, 1, above=True), help="share of each class's training images; 1")
    add("--seed", type=whole_number(0, 2**32 - 1), help="of weights, order, augmentation, noise; 0")
    add("--out", type=Path, metavar="DIR", help="folder of the run; runs/cifar_optimizers/<time>")
    add(
        "--resume", metavar="auto|PATH", help="continue a run; auto: the one in --out or the newest equal one"
    )
    add("--quick", action="store_true", help="at most 20 steps at width 8, to see that everything runs")
    typed = vars(parser.parse_args(argv))
    return {name: value for name, value in typed.items() if value is not None and value is not False}


def resolve(typed: dict[str, Any]) -> Options:
    """Return the typed options with the defaults of their data set and optimizer. Raises UsageError."""
    name, _ = find_data(typed.get("data", Options.data))
    recipe = OPTIMIZERS[typed.get("optimizer", Options.optimizer)]
    values = {"data_name": name, "lr": recipe.lr, "weight_decay": recipe.weight_decay, **DEFAULTS[name]}
    values |= QUICK if "quick" in typed else {}
    values |= {option: value for option, value in typed.items() if option in Options.__dataclass_fields__}
    if name.startswith("cifar") and values["image_size"] != 32:
        raise UsageError(f"--image-size {values['image_size']}: CIFAR images are 32 pixels; leave it out")
    return Options(**values)


def same_run(options: Options, config: dict[str, Any]) -> bool:
    """Return whether the run with `config` was given the options that decide its result."""
    saved = config.get("options")
    wanted = {name: value for name, value in asdict(options).items() if name not in MAY_CHANGE}
    return isinstance(saved, dict) and all(saved.get(name) == value for name, value in wanted.items())


def resolve_for(config: dict[str, Any], typed: dict[str, Any], folder: Path) -> Options:
    """Return the options of the run in `folder`, to continue it. Raises UsageError if a typed one differs."""
    wanted = {name: value for name, value in typed.items() if name not in MAY_CHANGE}
    saved = config["options"]
    if "data" in typed:  # the folder may have moved, but the set must be the same
        wanted["data"], _ = find_data(typed["data"])
    check_same_options(saved | {"data": saved.get("data_name")}, wanted, folder)
    moved = {name: typed[name] for name in ("device", "data", "download", "skip_checksum") if name in typed}
    try:
        return Options(**(saved | moved))
    except TypeError as error:
        raise UsageError(f"{folder} was made by another version of this program ({error})") from None
