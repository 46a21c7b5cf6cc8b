"""A sheet of pictures with captions, as the network gets them."""

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


def draw_sheet(file: Path, images: Sequence[torch.Tensor], captions: Sequence[str]) -> None:
    """Write a PNG of the first MOST images, uint8 (3, size, size), with captions. Raises RunError."""
    count = min(len(images), MOST)
    rows = -(-count // COLUMNS)
    figure = Figure(figsize=(1.3 * COLUMNS, 1.6 * rows), layout="constrained")
    installed = {font.name for font in font_manager.fontManager.ttflist}
    fonts = ["DejaVu Sans", *(name for name in CHINESE if name in installed)]
    for place, axes in enumerate(figure.subplots(rows, COLUMNS, squeeze=False).flat):
        axes.axis("off")
        if place < count:
            axes.imshow(images[place].permute(1, 2, 0).numpy(), interpolation="nearest")
            caption = printable(captions[place])
            axes.set_title(caption, fontsize=9, family=fonts, parse_math=False)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing from font")
            replace_file(
                file, lambda target: figure.savefig(target, dpi=100, format="png", metadata={"Title": MARK})
            )
    except OSError as error:
        raise RunError(f"cannot write {file}: {error.strerror}; choose another --sheet") from None
