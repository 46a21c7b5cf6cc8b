"""Draw how much faster MLX or PyTorch was, operation by operation, from docs/data/published_speeds.yaml.

    python -m tools.drawing.speed_ratios

writes docs/assets/images/mlx-ratios-*.svg. One dot is one machine.
"""

from __future__ import annotations

import sys

import yaml
from matplotlib.figure import Figure

from examples.programs.report import HELD_OUT, LIMIT, TRAINING
from tools.drawing import page_pictures

DATA = page_pictures.ROOT / "docs/data/published_speeds.yaml"
TABLE = "speeds-mlx-microbenchmarks"
HEIGHT = 272
RATIOS = {1 / 4: "4×", 1 / 2: "2×", 1: "equal", 2: "2×", 4: "4×"}  # of the times PyTorch / MLX
EQUAL = 0.97  # the quicker of two times counts as clearly quicker below this part of the other
NAMES = {
    "MatMul": ("matrix product", "矩阵乘法"),
    "Linear": ("linear layer", "线性层"),
    "LayerNorm": ("layer norm", "层归一化"),
    "SDPA": ("attention", "注意力"),
    "Softmax": ("softmax", "softmax"),
    "Conv2d": ("convolution", "卷积"),
}
CHINESE = {"MLX faster →": "MLX 更快 →", "← PyTorch faster": "← PyTorch 更快"}
CHINESE |= {"2×": "2 倍", "4×": "4 倍", "equal": "相同"} | dict(NAMES.values())


def pairs() -> dict[str, list[tuple[float, float]]]:
    """Return the (MLX, PyTorch) milliseconds of every machine, by operation, in the order of the picture."""
    table = yaml.safe_load(DATA.read_text(encoding="utf-8"))[TABLE]
    columns = {name: table["columns"].index(name) for name in NAMES}
    return {
        name: [(row[column][0], row[column][1]) for row in table["rows"] if row[column] is not None]
        for name, column in columns.items()
    }


def colour(mlx: float, torch: float) -> str:
    """Return the colour of the side that was clearly faster, or grey."""
    clear = min(mlx, torch) < EQUAL * max(mlx, torch)
    return (TRAINING if mlx < torch else HELD_OUT) if clear else LIMIT


def draw(figure: Figure) -> None:
    """Draw a row for each operation, and where the ratios are; 1 stands in the middle."""
    found = pairs()
    axes = figure.add_axes((0.35, 0.03, 0.6, 0.76))
    for row, times in enumerate(found.values()):
        colours = [colour(*pair) for pair in times]
        axes.scatter([torch / mlx for mlx, torch in times], [row] * len(times), 64, colours, alpha=0.7)
    axes.set(xscale="log", xlim=(min(RATIOS), max(RATIOS)), ylim=(len(found) - 0.5, -0.5))
    axes.set_xticks(list(RATIOS), list(RATIOS.values()), minor=False)
    axes.set_xticks([], minor=True)
    axes.set_yticks(range(len(found)), [NAMES[name][0] for name in found])
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.grid(axis="x", alpha=0.5)
    axes.axvline(1, color=LIMIT, linewidth=1)
    axes.spines[:].set_visible(False)
    for words, ha, side, shown in (
        ("← PyTorch faster", "right", 0.88, HELD_OUT),
        ("MLX faster →", "left", 1.14, TRAINING),
    ):
        axes.text(side, -1.6, words, ha=ha, color=shown)


def pictures() -> dict[str, str]:
    """Return all pictures by file name."""
    return page_pictures.pictures("mlx-ratios", HEIGHT, draw, CHINESE)


if __name__ == "__main__":
    page_pictures.write_pictures(pictures())
    sys.exit(0)
