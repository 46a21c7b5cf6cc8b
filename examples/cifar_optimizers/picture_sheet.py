"""A sheet of pictures with captions, as the network gets them."""

import functools
import warnings
from collections.abc import Sequence
from pathlib import Path

import torch
from matplotlib import font_manager
from matplotlib.figure import Figure

from snippets.atomic_write import replace_file
from snippets.errors import RunError, printable
from snippets.foreign_files import read_bytes

MARK = "Pictures of the MPS Handbook"  # stored in the file: only such sheets may be overwritten
COLUMNS, MOST = 8, 64


def is_sheet(file: Path) -> bool:
    """Return whether `draw_sheet` wrote the picture."""
    try:
        return MARK.encode() in read_bytes(file, most=1 << 26)
    except OSError:
        return False


def characters(file: str) -> set[int]:
    """Return the characters of a font; none when the file cannot be read."""
    try:
        return set(font_manager.get_font(file).get_charmap())
    except (OSError, RuntimeError):
        return set()


@functools.cache
def find_fonts(text: str) -> tuple[list[str], set[str]]:
    """Return the usual font with installed ones for the rest of `text`, and the characters that none has.

    Matplotlib's own list of fonts may be older than a font, so the files are looked through.
    """
    families = ["DejaVu Sans"]
    missing = {ord(letter) for letter in text if not letter.isspace()}
    missing -= characters(font_manager.findfont(families[0]))
    files = font_manager.findSystemFonts() if missing else []
    for file in sorted(files, key=lambda file: ("Sans" not in file, "Regular" not in file, file)):
        if "LastResort" not in file and missing & (found := characters(file)):  # which has boxes for all
            font_manager.fontManager.addfont(file)
            families.append(font_manager.get_font(file).family_name)
            missing -= found
    return families, set(map(chr, missing))


def drawable(names: Sequence[str]) -> tuple[list[str], str]:
    """Return the names of classes for a sheet, by number where no font has their characters, and a legend."""
    _, missing = find_fonts(printable("".join(sorted(set("".join(names))))))
    numbered = [number for number, name in enumerate(names) if missing.intersection(name)]
    shown = [f"class {number}" if number in numbered else name for number, name in enumerate(names)]
    legend = ", ".join(f"class {number} is {names[number]}" for number in numbered)
    return shown, f" ({legend}: no font has its characters)" if legend else ""


def draw_sheet(file: Path, images: Sequence[torch.Tensor], captions: Sequence[str]) -> None:
    """Write a PNG of the first MOST images, uint8 (3, size, size), with captions. Raises RunError."""
    shown, size = list(images[:MOST]), images[0].shape[-1]
    rows, columns = -(-len(shown) // COLUMNS), min(COLUMNS, len(shown))
    step, caption = size + size // 8, size * 3 // 8  # a gap beside, and room for two lines above
    sheet = torch.full((rows * (step + caption), columns * step, 3), 255, dtype=torch.uint8)
    figure = Figure(figsize=(1.3 * columns, 1.3 * columns * len(sheet) / sheet.shape[1]))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.axis("off")
    families, _ = find_fonts(printable("".join(sorted(set("".join(captions))))))
    for place, image in enumerate(shown):
        top, left = place // COLUMNS * (step + caption) + caption, place % COLUMNS * step
        sheet[top : top + size, left : left + size] = image.permute(1, 2, 0)
        text = printable(captions[place], kept="\n")
        axes.text(left, top - size / 16, text, fontsize=8, family=families, parse_math=False)
    axes.imshow(sheet.numpy(), interpolation="nearest")
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing from font")
            replace_file(
                file, lambda target: figure.savefig(target, dpi=100, format="png", metadata={"Title": MARK})
            )
    except OSError as error:
        raise RunError(f"cannot write {file}: {error.strerror}; choose another --sheet") from None
