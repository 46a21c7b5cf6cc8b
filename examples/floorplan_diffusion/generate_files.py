"""The output files of generate.py: plans as numbers and as pictures."""

from collections.abc import Sequence
from pathlib import Path

import numpy

from examples.floorplan_diffusion.drawing import Corners, gallery
from examples.floorplan_diffusion.node_network import pixels_of
from examples.floorplan_diffusion.picture import Picture
from examples.floorplan_diffusion.plan_dxf import dxf_of
from examples.floorplan_diffusion.plan_files import write_plans
from examples.floorplan_diffusion.plan_json import json_of
from examples.floorplan_diffusion.plans import Plan, PlanSet
from examples.floorplan_diffusion.rooms import straightened
from examples.floorplan_diffusion.sampled_corners import Batch, real_corners
from snippets.atomic_write import replace_file

SHOWN = 12  # plans in the gallery
COLUMNS, WIDTH = 3, 720  # of gallery and steps


def write_plan_files(
    folder: Path,
    plans: list[Plan],
    first: Batch,
    threshold: float,
    *,
    straighten: bool = True,
    formats: Sequence[str] = ("svg",),
    pixels_per_metre: float | None = None,
) -> None:
    """Write plans.npz, the plans in the `formats`, gallery and steps. Raises OSError.

    `first` has the intermediate steps of the first plan. With `straighten`, walls in pictures and drawings
    are straight. JSON is one file with the rooms of all plans, plans.json.
    """
    write_plans(folder / "plans.npz", PlanSet.of("drawn", "", plans))
    drawn = [straightened(plan) for plan in plans] if straighten else plans
    (folder / "plans").mkdir(exist_ok=True)
    for index, plan in enumerate(drawn):
        write_plan(folder / "plans" / f"{index:04d}", plan, formats, pixels_per_metre)
    if "json" in formats:
        text = json_of(drawn)
        replace_file(folder / "plans.json", lambda file: file.write(text.encode()))
    corners = [corners_of_moment(nodes, threshold) for nodes in first.way]
    titles = [f"step {step:,}" if step else "corners" for step in first.steps.tolist()]
    moments: list[Plan | Corners] = [*corners]
    if corners[-1].real.any():  # otherwise the first plan comes from other noise
        moments, titles = [*moments, drawn[0]], [*titles, "with walls"]
    pictures = {
        "gallery": gallery(drawn[:SHOWN], COLUMNS, width=WIDTH),
        "steps": gallery(moments, COLUMNS, width=WIDTH, titles=titles),
    }
    for name, picture in pictures.items():
        write_svg(folder / f"{name}.svg", picture)
        write_png(folder / f"{name}.png", picture)


def write_plan(path: Path, plan: Plan, formats: Sequence[str], pixels_per_metre: float | None) -> None:
    """Write one plan into a file of each format but JSON, with the name `path` and the format's suffix."""
    if "dxf" in formats:
        content = dxf_of(plan, pixels_per_metre)
        replace_file(path.with_suffix(".dxf"), lambda file: file.write(content))
    picture = gallery([plan], columns=1) if {"svg", "png"} & set(formats) else None
    if picture and "svg" in formats:
        write_svg(path.with_suffix(".svg"), picture)
    if picture and "png" in formats:
        write_png(path.with_suffix(".png"), picture)


def corners_of_moment(nodes: numpy.ndarray, threshold: float) -> Corners:
    """Return the nodes (corners, 10) of an intermediate step as corners to draw."""
    return Corners(pixels_of(nodes), nodes[:, 2:-1] > 0, real_corners(nodes, threshold))


def write_svg(path: Path, picture: Picture) -> None:
    """Replace a file by a picture."""
    replace_file(path, lambda file: file.write(picture.svg().encode()))


def write_png(path: Path, picture: Picture) -> None:
    """Replace a file by a picture on a white background."""
    content = picture.png(background="white")
    replace_file(path, lambda file: file.write(content))
