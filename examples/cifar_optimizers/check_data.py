"""Check the pictures of --data before training: counts, sizes, values, and held-out ones that are repeated.

python examples/cifar_optimizers/check_data.py FOLDER --sheet check.png
"""

import shlex
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the folder of examples/ and snippets/
try:
    from examples.programs import imports

    imports.prepare(__file__)
except ModuleNotFoundError:
    print(f"error: {__file__} needs examples/ and snippets/, as in the handbook; copy both", file=sys.stderr)
    sys.exit(2)

import torch

from examples.cifar_optimizers.data_facts import repeated_in_words, sizes_in_words
from examples.cifar_optimizers.data_sources import load_data
from examples.cifar_optimizers.image_data import ImageData
from examples.cifar_optimizers.options import HELP, IMAGE_SIZE, resolve
from examples.cifar_optimizers.picture_sheet import draw_sheet, drawable, is_sheet
from examples.programs.command_line import StrictParser, expanded, first_line
from examples.programs.run_folder import check_target
from snippets.errors import exit_with_one_line, tell

SHOWN = 20  # classes in the table
PER_CLASS = 4  # pictures on the sheet


def read_command_line(argv: Sequence[str] | None) -> Namespace:
    """Return the options. Raises UsageError."""
    parser = StrictParser(prog="check_data.py", description=first_line(__doc__))
    add = parser.add_argument
    add("data", nargs="?", default="digits", metavar="NAME|FOLDER|FILE", help=HELP["data"])
    add("--image-size", **IMAGE_SIZE)
    add("--skip-checksum", action="store_true", help="accept CIFAR files that are not the official ones")
    add(
        "--sheet", type=expanded, metavar="FILE.png", help="write pictures of each class, as they are learned"
    )
    options = parser.parse_args(argv)
    if options.sheet is not None:
        check_target(options.sheet, is_sheet, [".png"], option="--sheet")
    return options


def describe(data: ImageData) -> Iterator[str]:
    """Yield the lines of the report."""
    size, notes = data.train_images.shape[-1], "; ".join(data.notes)
    learned, held_out = (labels.bincount(minlength=data.classes) for labels in counted(data))
    yield f"data       {data.name}: {data.source}"
    yield f"pictures   {len(data.train_labels):,} to learn from, {len(data.test_labels):,} held out"
    yield f"classes    {data.classes:,}; to learn from + held out:"
    for label in range(min(data.classes, SHOWN)):
        yield f"           {name_of(data, label):<20} {learned[label]:>7,} + {held_out[label]:,}"
    if data.classes > SHOWN:
        yield f"           and {data.classes - SHOWN:,} more, with {learned.min():,} to {learned.max():,}"
    yield f"sizes      {sizes_in_words(data) if data.sizes else f'{size}×{size} pixels'}"
    yield f"values     {values_in_words(data)}"
    if notes:
        yield f"files      {notes}"
    yield f"repeated   {repeated_in_words(data)}"
    if empty := [name_of(data, label) for label in (held_out == 0).nonzero().flatten().tolist()]:
        more = f" and {len(empty) - 5:,} more" if len(empty) > 5 else ""
        yield f"note       no picture is held out of {', '.join(empty[:5])}{more}"


def training(options: Namespace, default: int, learned: int) -> Iterator[str]:
    """Yield the command that trains, if the `learned` pictures are fewer than a batch has by default."""
    if learned < default:
        size = f" --image-size {options.image_size}" if options.image_size else ""
        command = f"--data {shlex.quote(options.data)}{size} --batch-size {learned}"
        yield f"train      python examples/cifar_optimizers/train.py {command}"


def counted(data: ImageData) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the labels of both parts."""
    return data.train_labels, data.test_labels


def name_of(data: ImageData, label: int) -> str:
    """Return the name of a class, or its number."""
    return data.class_names[label] if data.class_names else str(label)


def values_in_words(data: ImageData) -> str:
    """Return the range of the values, and mean and deviation of each channel."""
    images = data.train_images
    mean, std = (
        ", ".join(f"{value:.3f}" for value in part.flatten().tolist()) for part in (data.mean, data.std)
    )
    return (
        f"{images.min():g} to {images.max():g}; in red, green, blue: mean {mean}, deviation {std} (of 0 to 1)"
    )


def as_drawn(image: torch.Tensor) -> torch.Tensor:
    """Return an image as uint8; the values of generated ones are about -3 to 3."""
    return image if image.dtype == torch.uint8 else (40 * image + 128).clamp(0, 255).to(torch.uint8)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the report. Raises UsageError and RunError."""
    options = read_command_line(argv)
    typed = {"data": options.data} | ({"image_size": options.image_size} if options.image_size else {})
    wanted = resolve(typed)
    data = load_data(wanted.data, wanted.image_size, download=False, check=not options.skip_checksum)
    tell("\n".join([*describe(data), *training(options, wanted.batch_size, len(data.train_labels))]))
    if options.sheet is not None:
        chosen = [
            (data.train_labels == label).nonzero().flatten()[:PER_CLASS] for label in range(data.classes)
        ]
        indices = torch.cat(chosen).tolist()
        names, legend = drawable([name_of(data, label) for label in range(data.classes)])
        images = [as_drawn(data.train_images[index]) for index in indices]
        draw_sheet(options.sheet, images, [names[int(data.train_labels[index])] for index in indices])
        tell(f"sheet      {options.sheet}{legend}")
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
