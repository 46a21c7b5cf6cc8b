"""Draw how much faster MLX or PyTorch was, operation by operation, from docs/data/published_speeds.yaml.

    python -m tools.drawing.speed_ratios

writes docs/assets/images/mlx-ratios-*.svg. One dot is one machine.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import yaml

from tools.drawing.svg_chart import (
    COLOURS,
    ROOT,
    WIDTH,
    Axis,
    Panel,
    dot,
    in_all_forms,
    label,
    picture,
    stroke,
    write_pictures,
)

DATA = ROOT / "docs/data/published_speeds.yaml"
TABLE = "speeds-mlx-microbenchmarks"

LEFT, RIGHT = 132, WIDTH - 18
TOP, ROW = 54, 34
LARGEST = 4  # times as fast, at either end of the axis
EQUAL = 0.97  # the quicker of two times counts as clearly quicker below this part of the other

WORDS = {
    "en": {"mlx": "MLX faster →", "torch": "← PyTorch faster", "times": "{0}×", "same": "equal"},
    "zh": {"mlx": "MLX 更快 →", "torch": "← PyTorch 更快", "times": "{0} 倍", "same": "相同"},
}
NAMES = {
    "MatMul": {"en": "matrix product", "zh": "矩阵乘法"},
    "Linear": {"en": "linear layer", "zh": "线性层"},
    "LayerNorm": {"en": "layer norm", "zh": "层归一化"},
    "SDPA": {"en": "attention", "zh": "注意力"},
    "Softmax": {"en": "softmax", "zh": "softmax"},
    "Conv2d": {"en": "convolution", "zh": "卷积"},
}


def pairs() -> dict[str, list[tuple[float, float]]]:
    """Return the (MLX, PyTorch) milliseconds of every machine, by operation, in the order of the picture."""
    table = yaml.safe_load(DATA.read_text(encoding="utf-8"))[TABLE]
    columns = {name: table["columns"].index(name) for name in NAMES}
    return {
        name: [(row[column][0], row[column][1]) for row in table["rows"] if row[column] is not None]
        for name, column in columns.items()
    }


def plot_area(rows: int, colours: dict[str, str]) -> Panel:
    """Return where ratios PyTorch / MLX of times stand: 1 in the middle; y is the row from the top."""
    ratios = Axis(1 / LARGEST, LARGEST, (1 / LARGEST, 1 / 2, 1, 2, LARGEST), logarithmic=True)
    return Panel(ratios, Axis(rows, 0), TOP, ROW * rows, colours, LEFT, RIGHT)


def draw(language: str, scheme: str) -> str:
    """Return one picture as SVG."""
    found, colours, words = pairs(), COLOURS[scheme], WORDS[language]
    panel = plot_area(len(found), colours)
    middle, _ = panel.place(1, 0)
    parts = [
        label(middle - 12, 15, words["torch"], colours["orange"], "end"),
        label(middle + 12, 15, words["mlx"], colours["blue"]),
        *grid(panel, words),
    ]
    for row, (name, times) in enumerate(found.items()):
        _, y = panel.place(1, row + 0.5)
        parts.append(label(LEFT - 14, y + 5, NAMES[name][language], colours["text"], "end"))
        parts += dots(panel, row + 0.5, times)
    return picture(panel.bottom + 12, parts)


def grid(panel: Panel, words: dict[str, str]) -> Iterator[str]:
    """Yield a line for each factor, and the factor above it."""
    for ratio in panel.x.ticks:
        text = words["same"] if ratio == 1 else words["times"].format(f"{max(ratio, 1 / ratio):g}")
        yield panel.line(
            [(ratio, panel.y.low), (ratio, panel.y.high)],
            stroke(panel.colours["text" if ratio == 1 else "grid"], 1),
        )
        yield label(panel.place(ratio, 0)[0], TOP - 10, text, panel.colours["text"], "middle")


def dots(panel: Panel, row: float, times: list[tuple[float, float]]) -> Iterator[str]:
    """Yield a dot for each machine, in the colour of the side that was clearly faster."""
    for mlx, torch in times:
        clear = min(mlx, torch) < EQUAL * max(mlx, torch)
        colour = ("blue" if mlx < torch else "orange") if clear else "text"
        yield dot(*panel.place(torch / mlx, row), panel.colours[colour], radius=4.5, opacity=".7")


def pictures() -> dict[str, str]:
    """Return all pictures by file name."""
    return in_all_forms("mlx-ratios", draw)


def main() -> int:
    """Write the pictures."""
    write_pictures(pictures())
    return 0


if __name__ == "__main__":
    sys.exit(main())
