"""The picture of MLX against PyTorch: its dots stand where the data says, in the colour of the faster."""

import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from examples.programs.report import HELD_OUT, LIMIT, TRAINING
from tools.drawing.speed_ratios import colour, draw, pairs


def test_every_measurement_has_a_dot_inside_the_axis():
    figure = Figure()
    draw(figure)
    (axes,) = figure.axes
    assert len(axes.collections) == 6 and axes.get_xlim() == (0.25, 4)
    for row, (dots, times) in enumerate(zip(axes.collections, pairs().values(), strict=True)):
        assert dots.get_offsets().tolist() == [[pytest.approx(torch / mlx), row] for mlx, torch in times]
        assert [to_hex(each) for each in dots.get_facecolors()] == [colour(*pair) for pair in times]
        assert all(0.25 < torch / mlx < 4 for mlx, torch in times)
    assert sum(map(len, pairs().values())) > 45


def test_colours_name_the_clearly_faster():
    assert [colour(1, 1.1), colour(1.1, 1), colour(1, 1.02)] == [TRAINING, HELD_OUT, LIMIT]
