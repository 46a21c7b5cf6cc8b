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
CHINESE = ("PingFang SC", "Hiragino Sans GB", "Heiti TC", "Noto Sans CJK SC", "Noto Sans CJK JP")


def is_sheet(file: Path) -> bool:
    """Return whether `draw_sheet` wrote the picture."""
    try:
        return MARK.encode() in read_bytes(file, most=1 << 26)
    except OSError:
        return False


@functools.cache
def fonts() -> list[str]:
    """Return the usual font, and those for Chinese that are installed."""
    installed = {font.name for font in font_manager.fontManager.ttflist}
    return ["DejaVu Sans", *(name for name in CHINESE if name in installed)]


def draw_sheet(file: Path, images: Sequence[torch.Tensor], captions: Sequence[str]) -> None:
    """Write a PNG of the first MOST images, uint8 (3, size, size), with captions. Raises RunError."""
    shown, size = list(images[:MOST]), images[0].shape[-1]
    rows, columns = -(-len(shown) // COLUMNS), min(COLUMNS, len(shown))
    step, caption = size + size // 8, size * 3 // 8  # a gap beside, and room for two lines above
    sheet = torch.full((rows * (step + caption), columns * step, 3), 255, dtype=torch.uint8)
    figure = Figure(figsize=(1.3 * columns, 1.3 * columns * len(sheet) / sheet.shape[1]))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.axis("off")
    for place, image in enumerate(shown):
        top, left = place // COLUMNS * (step + caption) + caption, place % COLUMNS * step
        sheet[top : top + size, left : left + size] = image.permute(1, 2, 0)
        text = printable(captions[place], kept="\n")
        axes.text(left, top - size / 16, text, fontsize=8, family=fonts(), parse_math=False)
    axes.imshow(sheet.numpy(), interpolation="nearest")
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing from font")
            replace_file(
                file, lambda target: figure.savefig(target, dpi=100, format="png", metadata={"Title": MARK})
            )
    except OSError as error:
        raise RunError(f"cannot write {file}: {error.strerror}; choose another --sheet") from None
