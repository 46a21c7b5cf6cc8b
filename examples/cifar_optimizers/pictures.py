"""Read a picture of any size and kind, the same way for training and for prediction.

Pillow is limited to the formats below, the size of a picture is checked before its pixels are unpacked, and
only regular files are opened.
"""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy
import torch
from PIL import Image, ImageOps

from snippets.errors import UsageError
from snippets.foreign_files import open_regular

# foreign_reads: pictures, regular files of limited size, through Pillow with few formats
FORMATS = ("PNG", "JPEG", "WEBP", "BMP", "GIF", "TIFF")  # of an animation, the first picture
ENDINGS = frozenset({".png", ".jpg", ".jpeg", ".webp", ".bmp", ".gif", ".tif", ".tiff"})
APPLE = frozenset({".heic", ".heif"})  # Pillow needs another package for them
MOST_PIXELS = 80_000_000  # Pillow warns above 89 million; a photo of a phone has 12 to 50 million
SHOWN = 10  # unreadable files that are named
WHITE = (255, 255, 255, 255)


class Picture(NamedTuple):
    """A picture as the network gets it, and its size in the file."""

    pixels: torch.Tensor  # uint8 (3, size, size)
    width: int
    height: int


class UnreadablePicture(UsageError):
    """A file that is no picture, or a damaged one, or too large: its place, the reason and a cure."""

    def __init__(self, path: Path, reason: str, cure: str = "replace it, or remove it") -> None:
        """Make the line about one file."""
        super().__init__(f"cannot read {path}: {reason}; {cure}")
        self.path, self.reason = path, reason


def in_words(unreadable: Sequence[UnreadablePicture]) -> str:
    """Return how many files cannot be read, and which, with folder and reason."""
    groups: dict[str, list[str]] = {}
    for error in unreadable[:SHOWN]:
        reason = error.reason.partition(" (")[0]  # without the number of missing bytes
        groups.setdefault(reason, []).append(str(Path(error.path.parent.name, error.path.name)))
    named = "; ".join(f"{', '.join(names)}: {reason}" for reason, names in groups.items())
    more = f"; and {len(unreadable) - SHOWN:,} more" if len(unreadable) > SHOWN else ""
    return f"{len(unreadable):,} unreadable picture{'s' * (len(unreadable) > 1)} ({named}{more})"


def read_picture(path: Path, size: int) -> Picture:
    """Return the picture in a file, cut and resized to `size` × `size`. Raises UnreadablePicture."""
    try:
        with open_regular(path) as file, warnings.catch_warnings(action="ignore"):
            image = Image.open(file, formats=FORMATS)
            width, height = image.size
            if width * height > MOST_PIXELS:
                reason = f"it has {width} × {height} pixels, and {MOST_PIXELS:,} are the most"
                raise UnreadablePicture(path, reason, "make it smaller, or remove it")
            image.draft("RGB", (2 * size, 2 * size))  # JPEG is unpacked at a fraction of its size if possible
            return Picture(fitted(upright(image), size), width, height)
    except (UnreadablePicture, MemoryError):
        raise
    except Exception as error:  # Pillow raises many errors for damaged files
        raise UnreadablePicture(path, reason_for(error)) from None


def reason_for(error: Exception) -> str:
    """Return why Pillow cannot read a file."""
    if isinstance(error, Image.UnidentifiedImageError):
        return f"it is no picture in one of the formats {', '.join(FORMATS)}"
    if isinstance(
        error, Image.DecompressionBombError
    ):  # by Pillow's own limit, before the size is known here
        return f"it announces more than {MOST_PIXELS:,} pixels"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return f"damaged: {str(error).partition(chr(10))[0] or type(error).__name__}"


# --8<-- [start:fitted]
def upright(image: Image.Image) -> Image.Image:
    """Return a picture in RGB, turned as its EXIF data say; white shows through transparent parts.

    Raises ValueError for pixels of 32 bits, whose range is not known.
    """
    image = ImageOps.exif_transpose(image)
    if image.mode.startswith("I;16"):  # 16 bits of grey, of which the upper half are kept
        image = Image.fromarray((numpy.asarray(image) >> 8).astype(numpy.uint8))
    if image.mode in ("I", "F"):
        raise ValueError("its pixels are numbers of 32 bits; write it with 8 bits")
    if image.has_transparency_data:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, WHITE), image)
    return image.convert("RGB")


def fitted(image: Image.Image, size: int) -> torch.Tensor:
    """Return a picture in RGB as uint8 (3, size, size).

    What is longer than a square is cut off on both sides, and the square is resized. A picture that has this
    size is not changed.
    """
    if image.size != (size, size):
        image = ImageOps.fit(image, (size, size), Image.Resampling.BILINEAR)
    return torch.from_numpy(numpy.asarray(image).transpose(2, 0, 1).copy())


# --8<-- [end:fitted]
