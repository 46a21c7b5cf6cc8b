"""Time crops and flips of a whole batch against the same image by image, and store how much faster they are.

    python -m tools.measuring.augmentation --device cpu

Both make a batch as the network wants it, on the device, from random 32×32 images: the example's
image_data.py from images that all lie on the device; torchvision's usual pipeline from PIL images, in one
process, as a worker does it. Their calls take turns, and the ratio is taken within each pair.
docs/data/results/augmentation.yaml has an entry for each machine and kind of device, which this tool writes.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence

import torch
from torchvision import transforms

from examples.cifar_optimizers.image_data import ImageData, network_input
from examples.programs.command_line import StrictParser, whole_number
from snippets.device import pick_device
from snippets.errors import exit_with_one_line
from snippets.timing import Comparison, compare
from tools.measuring.result_entries import RESULTS, origin, rounded, store

DATA = RESULTS / "augmentation.yaml"
IMAGES, SIZE, PADDING = 2048, 32, 4
MEAN, STD = (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)  # of CIFAR-10

COMMAND = "python -m tools.measuring.augmentation"

_HEADER = """\
# By hand: shared and busy. tools/measuring/augmentation.py writes the rest: seconds per batch of
# 32×32 images, and the ratios image by image / whole batch of calls that followed each other.
"""


def random_images() -> ImageData:
    """Return images of random bytes, on the CPU: their content does not change what the work costs."""
    images = torch.randint(0, 256, (IMAGES, 3, SIZE, SIZE), dtype=torch.uint8)
    labels = torch.zeros(IMAGES, dtype=torch.int64)
    mean, std = (torch.tensor(values).view(3, 1, 1) for values in (MEAN, STD))
    return ImageData(
        "random", "random bytes", 1, images, labels, images[:0], labels[:0], mean, std, PADDING, True
    )


def whole_batch(data: ImageData, batch_size: int, device: torch.device) -> Callable[[], torch.Tensor]:
    """Return a function that makes a batch (batch, 3, 32, 32) of random images, all at once on `device`."""
    resident = data.to(device)

    def make() -> torch.Tensor:
        chosen = torch.randint(len(data.train_labels), (batch_size,), device=device)
        return network_input(resident, resident.train_images.index_select(0, chosen), augment=True)

    return make


def image_by_image(data: ImageData, batch_size: int, device: torch.device) -> Callable[[], torch.Tensor]:
    """Return a function that makes such a batch with torchvision's pipeline, and copies it to `device`."""
    pictures = [transforms.functional.to_pil_image(image) for image in data.train_images]
    pipeline = transforms.Compose(
        [
            transforms.RandomCrop(SIZE, padding=PADDING),
            transforms.RandomHorizontalFlip(),
            transforms.ToTensor(),
            transforms.Normalize(MEAN, STD),
        ]
    )

    def make() -> torch.Tensor:
        chosen = torch.randint(len(pictures), (batch_size,)).tolist()
        return torch.stack([pipeline(pictures[index]) for index in chosen]).to(device)

    return make


def measure(device: torch.device, batch_size: int, pairs: int) -> Comparison:
    """Return the seconds per batch, first of the whole batch at once, then image by image, and the ratios."""
    data = random_images()
    return compare(
        whole_batch(data, batch_size, device), image_by_image(data, batch_size, device), device, pairs=pairs
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, and store what belongs to an entry; return the exit code. Raises UsageError."""
    words = list(sys.argv[1:] if argv is None else argv)
    parser = StrictParser(prog="measure_augmentation", description="Time augmentation of whole batches.")
    parser.add_argument("--device", default="cpu", help="where the batch is wanted; cpu")
    parser.add_argument("--batch-size", type=whole_number(1, IMAGES), default=128, help="images; 128")
    parser.add_argument("--pairs", type=whole_number(10, 10_000), default=100, help="calls of each kind; 100")
    options = parser.parse_args(words)
    device, _ = pick_device(options.device)
    found = measure(device, options.batch_size, options.pairs)
    print(f"batches of {options.batch_size} images on {device}; median (10 % to 90 %)")
    for name, part in {"whole batch": found.first, "image by image": found.second}.items():
        print(f"{name:<15} {1e3 * part.median:8.3f} ms ({1e3 * part.low:.3f} to {1e3 * part.high:.3f})")
    print(f"{'ratio':<15} {found.ratio.median:8.1f}    ({found.ratio.low:.1f} to {found.ratio.high:.1f})")

    command = shlex.join([*COMMAND.split(), *words])
    entry = {"device": device.type, **origin(command, ("torch", "torchvision", "pillow"))} | {
        "batch_size": options.batch_size,
        "pairs": found.ratio.count,
        "whole_batch": rounded(found.first),
        "image_by_image": rounded(found.second),
        "ratio": rounded(found.ratio),
    }
    store(entry, DATA, _HEADER)
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
