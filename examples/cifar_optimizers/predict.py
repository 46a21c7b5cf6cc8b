"""Classify pictures with a trained network: the class of each, and its probability.

python examples/cifar_optimizers/predict.py runs/…/checkpoints/best.pt FOLDER --out classes.csv --sheet s.png
"""

import csv
import io
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the folder of examples/ and snippets/
try:
    from examples.programs import imports

    imports.prepare(__file__)
except ModuleNotFoundError:
    print(f"error: {__file__} needs examples/ and snippets/, as in the handbook; copy both", file=sys.stderr)
    sys.exit(2)

import torch
from tqdm import tqdm

from examples.cifar_optimizers.image_data import normalised
from examples.cifar_optimizers.picture_folders import files_in, is_picture
from examples.cifar_optimizers.picture_sheet import MOST, draw_sheet, drawable, is_sheet
from examples.cifar_optimizers.pictures import FORMATS, UnreadablePicture, in_words, read_picture
from examples.cifar_optimizers.trained import Trained, load_trained
from examples.programs.command_line import StrictParser, expanded, first_line
from examples.programs.failures import explained_failures
from examples.programs.run_folder import begins_with, check_target
from examples.programs.trained import check_computed
from snippets.atomic_write import replace_file
from snippets.device import pick_device
from snippets.errors import RunError, UsageError, exit_with_one_line, tell

HEADER = ("file", "class", "probability")
BATCH = 256  # pictures per forward pass
SHOWN = 10  # predictions to print


@dataclass(frozen=True)
class Prediction:
    """The class of a picture and its probability; the pixels are kept for the sheet only."""

    file: Path
    name: str
    probability: float
    pixels: torch.Tensor | None


def read_command_line(argv: Sequence[str] | None) -> Namespace:
    """Return the options. Raises UsageError."""
    parser = StrictParser(prog="predict.py", description=first_line(__doc__))
    add = parser.add_argument
    add("checkpoint", type=expanded, metavar="RUN|CHECKPOINT", help="of train.py; of a run, the best network")
    add("pictures", type=expanded, nargs="+", metavar="PICTURE|FOLDER", help="folders with all that is below")
    add(
        "--out",
        type=expanded,
        metavar="FILE.csv",
        help="write file, class, probability; an older one is replaced",
    )
    add("--sheet", type=expanded, metavar="FILE.png", help=f"draw {MOST} of them with their classes")
    add("--device", default="auto", choices=("auto", "mps", "cuda", "cpu"), help="auto")
    options = parser.parse_args(argv)
    if options.out is not None:
        check_target(options.out, begins_with(",".join(HEADER).encode()), [".csv"])
    if options.sheet is not None:
        check_target(options.sheet, is_sheet, [".png"], option="--sheet")
    return options


def find_pictures(paths: Sequence[Path]) -> list[Path]:
    """Return the pictures that are named or in the named folders. Raises UsageError when there are none."""
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            raise UsageError(f"there is no picture or folder {path}")
        found += [file for file in files_in(path) if is_picture(file)] if path.is_dir() else [path]
    if not found:
        raise UsageError(f"there is no picture ({', '.join(FORMATS)}) in {', '.join(map(str, paths))}")
    return found


def read_all(
    files: Sequence[Path], size: int, unreadable: list[UnreadablePicture]
) -> Iterator[tuple[Path, torch.Tensor]]:
    """Yield each file that can be read with its pixels; the others are appended to `unreadable`."""
    for file in files:
        try:
            yield file, read_picture(file, size).pixels
        except UnreadablePicture as error:
            unreadable.append(error)


# --8<-- [start:predict]
@torch.no_grad()
def predict(
    trained: Trained, files: Sequence[Path], device: torch.device, unreadable: list[UnreadablePicture]
) -> Iterator[Prediction]:
    """Yield the prediction for each file that can be read; the others are appended to `unreadable`.

    Pictures are prepared by the functions that training uses.
    """
    network = trained.network.to(device)
    mean, std = trained.mean.to(device), trained.std.to(device)
    drawn = {files[number * len(files) // MOST] for number in range(MOST)}  # for the sheet: from all folders
    for start in range(0, len(files), BATCH):
        read = list(read_all(files[start : start + BATCH], trained.options.image_size, unreadable))
        if not read:
            continue
        images = torch.stack([pixels for _, pixels in read])
        shares = network(normalised(images.to(device), mean, std)).softmax(1).cpu()
        for (file, image), share in zip(read, shares, strict=True):
            best = int(share.argmax())
            yield Prediction(file, trained.names[best], share[best].item(), image if file in drawn else None)


# --8<-- [end:predict]
def write_csv(path: Path, predictions: Sequence[Prediction]) -> None:
    """Write a row per picture. Raises RunError."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows((entry.file, entry.name, f"{entry.probability:.6f}") for entry in predictions)
    content = text.getvalue().encode(errors="surrogateescape")  # names of files need not be UTF-8
    try:
        replace_file(path, lambda file: file.write(content))
    except OSError as error:
        raise RunError(f"cannot write {path}: {error.strerror}; choose another --out") from None


def draw_predictions(path: Path, predictions: Sequence[Prediction], names: Sequence[str]) -> None:
    """Draw those whose pixels were kept. Raises RunError."""
    shown, legend = drawable(names)
    captions = dict(zip(names, shown, strict=True))
    drawn = [(entry, entry.pixels) for entry in predictions if entry.pixels is not None]
    if not drawn:
        raise RunError(
            f"cannot draw {path}: none of its {MOST} pictures can be read; remove those named above"
        )
    texts = [f"{captions[entry.name]}\n{entry.probability:.1%}" for entry, _ in drawn]
    draw_sheet(path, [pixels for _, pixels in drawn], texts)
    if legend:
        tell(f"note       on the sheet{legend}")


def count_right(predictions: Sequence[Prediction], names: Sequence[str]) -> tuple[int, int]:
    """Return how many predictions are right, and of how many: those in a folder that has a class's name."""
    known = [entry for entry in predictions if entry.file.parent.name in names]
    return sum(entry.name == entry.file.parent.name for entry in known), len(known)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the class of each picture. Raises UsageError and RunError."""
    options = read_command_line(argv)
    device, reason = pick_device(options.device)
    trained = load_trained(options.checkpoint)
    trained.network.register_forward_hook(check_computed)
    files = find_pictures(options.pictures)
    size = trained.options.image_size
    tell(f"network    {trained.checkpoint}: {len(trained.names)} classes, pictures of {size}×{size} pixels")
    if trained.note:
        tell(f"note       {trained.note}")
    if trained.options.data_name == "synthetic":
        tell("note       it learned from generated images: about real ones it knows nothing")
    tell(f"device     {device} ({reason})")
    with explained_failures("out of memory; try --device cpu"):
        unreadable: list[UnreadablePicture] = []
        steps = predict(trained, files, device, unreadable)
        bar = {"total": len(files), "unit": "picture", "disable": None, "leave": False, "file": sys.stdout}
        found = list(tqdm(steps, **bar))
    if not found:
        raise unreadable[0]
    if unreadable:
        tell(f"note       {in_words(unreadable)}, left out")
    if options.out is not None:  # before printing, because the reader of the output may exit
        write_csv(options.out, found)
    if options.sheet is not None:
        draw_predictions(options.sheet, found, trained.names)
    tell("\n".join(f"{entry.probability:>9.2%}  {entry.name:<20} {entry.file}" for entry in found[:SHOWN]))
    if len(found) > SHOWN:
        where = f"in {options.out}" if options.out is not None else "with --out FILE.csv"
        tell(f"           {len(found) - SHOWN:,} more {where}")
    right, known = count_right(found, trained.names)
    if known:
        tell(f"right      {right:,} of {known:,} ({right / known:.2%}), by the names of their folders")
    for file in filter(None, (options.out, options.sheet)):
        tell(f"written    {file}")
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
