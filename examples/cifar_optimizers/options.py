"""The command line of this example: flags, defaults, and the resulting options."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from examples.cifar_optimizers.data_sources import NAMES, find_data
from examples.cifar_optimizers.optimizers import OPTIMIZERS, SCHEDULES
from examples.programs.command_line import StrictParser, expanded, number, whole_number
from examples.programs.options import ON_OR_OFF, TrainingOptions, add_training_options, typed_options
from snippets.errors import UsageError

SMALL = {"width": 8, "image_size": 16, "epochs": 10, "batch_size": 64}  # seconds on a CPU
PUBLISHED = {"width": 64, "image_size": 32, "epochs": 200, "batch_size": 128}  # hours on a GPU
OWN = {
    "pictures": SMALL | {"image_size": 32},
    "npz": SMALL | {"image_size": 28},
    "idx": SMALL | {"image_size": 28},
}
DEFAULTS = {"digits": SMALL, "synthetic": SMALL, "cifar10": PUBLISHED, "cifar100": PUBLISHED, **OWN}
QUICK = {"width": 8, "epochs": 1, "max_steps": 20}  # tests that everything runs, not that it learns

HELP = {
    "data": f"{', '.join(NAMES)}, a CIFAR folder or archive, a folder of pictures, or .npz; digits",
    "epochs": "10, CIFAR: 200",
    "batch-size": "64, CIFAR: 128",
    "lr": "depends on the optimizer",
    "weight-decay": "depends on the optimizer",
    "seed": "weights, order, augmentation, noise; 0",
    "out": "runs/cifar_optimizers/<time>",
    "quick": "at most 20, at width 8",
}
IMAGE_SIZE: dict[str, Any] = {
    "type": whole_number(8, 128),
    "metavar": "PIXELS",
    "help": "pictures are cut and resized to it; 16, pictures and CIFAR: 32, .npz: 28",
}


@dataclass(frozen=True, kw_only=True)
class Options(TrainingOptions):
    """All options of a run with their final values."""

    data: str = "digits"
    data_name: str = "digits"  # the data set that `data` means
    download: bool = False
    skip_checksum: bool = False
    channels_last: bool = False
    search: bool = False  # of the fastest convolutions, by cuDNN
    optimizer: str = "sgd"
    schedule: str = "cosine"
    width: int
    image_size: int  # pixels
    label_noise: float = 0.0  # share of training labels
    data_fraction: float = 1.0  # share of training images
    workers_name: str = "none"  # or "some": workers draw other crops and flips than the device

    MAY_CHANGE = TrainingOptions.MAY_CHANGE | {"download", "skip_checksum", "channels_last", "search"}
    DERIVED = frozenset({"data_name", "workers_name"})


def read_command_line(argv: Sequence[str] | None) -> dict[str, Any]:
    """Return the options on the command line, without defaults. Raises UsageError."""
    parser = StrictParser(
        prog="train.py",
        description="Train a ResNet-18 with one of six optimizers. With no option: digits, 10 epochs.",
    )
    add_training_options(parser, HELP)
    add = parser.add_argument
    add(
        "--download",
        action="store_true",
        default=None,
        help="fetch --data cifar10 or cifar100 into data/ if it is not there",
    )
    add(
        "--skip-checksum",
        action="store_true",
        default=None,
        help="accept CIFAR files that are not the official ones",
    )
    add("--channels-last", help="on NVIDIA GPUs: channels of a pixel together in memory", **ON_OR_OFF)
    add("--search", help="on NVIDIA GPUs: cuDNN tries convolutions and takes the fastest", **ON_OR_OFF)
    add("--optimizer", choices=tuple(OPTIMIZERS), help="sgd")
    add("--schedule", choices=SCHEDULES, help="of the learning rate; cosine falls to 0")
    add("--width", type=whole_number(1, 512), help="channels of the first layers; 8, CIFAR: 64")
    add("--image-size", **IMAGE_SIZE)
    add("--label-noise", type=number(0, 1, below=True), help="share of training labels made wrong; 0")
    add("--data-fraction", type=number(0, 1, above=True), help="share of each class's training images; 1")
    return typed_options(parser, argv)


def resolve(typed: dict[str, Any]) -> Options:
    """Return the typed options with the defaults of their data set and optimizer. Raises UsageError."""
    name, _ = find_data(typed.get("data", Options.data))
    recipe = OPTIMIZERS[typed.get("optimizer", Options.optimizer)]
    values: dict[str, Any] = {"lr": recipe.lr, "weight_decay": recipe.weight_decay, **DEFAULTS[name]}
    values |= QUICK if "quick" in typed else {}
    values |= {option: value for option, value in typed.items() if option in Options.__dataclass_fields__}
    values |= {"data_name": name, "workers_name": "some" if values.get("workers") else "none"}
    if values.get("data") not in (None, *NAMES):  # a run may be resumed from another folder
        values["data"] = str(expanded(values["data"]).resolve())
    if values["batch_size"] == 1:
        raise UsageError("--batch-size 1: batch normalisation needs at least 2 images")
    if name.startswith("cifar") and values["image_size"] != 32:
        raise UsageError(f"--image-size {values['image_size']}: CIFAR images are 32 pixels; leave it out")
    return Options(**values)
