"""Draw how much faster MLX or PyTorch was, operation by operation, from docs/data/published_speeds.yaml.

    python -m tools.draw_speed_ratios

writes docs/assets/images/mlx-ratios-*.svg, for both languages, light and dark. One dot is one machine.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

from tools.draw_curves import COLOURS, dot, label

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "docs/data/published_speeds.yaml"
FOLDER = ROOT / "docs/assets/images"
TABLE = "speeds-mlx-microbenchmarks"

WIDTH, LEFT, RIGHT = 470, 126, 454
SHOWN = 560  # pixels wide where there is room; a phone shrinks it, so the drawing itself is narrow
TOP, ROW = 52, 34
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


def place(ratio: float) -> float:
    """Return where a ratio PyTorch / MLX of times stands: 1 in the middle, doubling in equal steps."""
    return LEFT + (math.log(ratio, LARGEST) + 1) / 2 * (RIGHT - LEFT)


def draw(language: str, scheme: str) -> str:
    """Return one picture as SVG."""
    found, colours = pairs(), COLOURS[scheme]
    height = TOP + ROW * len(found) + 12
    size = f'viewBox="0 0 {WIDTH} {height}" width="{SHOWN}" height="{round(height * SHOWN / WIDTH)}"'
    style = 'font-family="system-ui, -apple-system, sans-serif" font-size="13" fill="none"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>'
    parts = [head, *axis(WORDS[language], colours, height - 12)]
    for number, (name, times) in enumerate(found.items()):
        y = TOP + ROW * (number + 0.5)
        parts.append(label(LEFT - 14, y + 4, NAMES[name][language], colours["text"], "end"))
        parts += dots(times, y, colours)
    return "\n".join([*parts, "</svg>"]) + "\n"


def axis(words: dict[str, str], colours: dict[str, str], bottom: float) -> Iterator[str]:
    """Yield the grid lines, their factors, and which side is whose."""
    yield label(LEFT, 14, words["torch"], colours["test"], "start")
    yield label(RIGHT, 14, words["mlx"], colours["train"], "end")
    for factor in (-LARGEST, -2, 1, 2, LARGEST):
        x = place(factor if factor > 0 else -1 / factor)
        text = words["same"] if factor == 1 else words["times"].format(abs(factor))
        shade = colours["text"] if factor == 1 else colours["grid"]
        yield f'<path d="M{x:.1f} {TOP - 8}V{bottom}" stroke="{shade}"/>'
        yield label(x, TOP - 16, text, colours["text"], "middle")


def dots(times: list[tuple[float, float]], y: float, colours: dict[str, str]) -> Iterator[str]:
    """Yield a dot for each machine, in the colour of the side that was clearly faster."""
    for mlx, torch in times:
        if min(mlx, torch) >= EQUAL * max(mlx, torch):
            colour = colours["text"]
        else:
            colour = colours["train" if mlx < torch else "test"]
        yield dot(place(torch / mlx), y, colour).replace('r="3"', 'r="4.5" fill-opacity=".7"')


def pictures() -> dict[str, str]:
    """Return all four pictures by file name."""
    return {
        f"mlx-ratios-{scheme}.{language}.svg": draw(language, scheme)
        for scheme in COLOURS
        for language in WORDS
    }


def main() -> int:
    """Write the pictures."""
    for name, text in pictures().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print((FOLDER / name).relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
