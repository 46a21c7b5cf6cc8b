"""Floor plans of one's own: JSON, DXF and SVG, brought to the canvas of the networks."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from examples.floorplan_diffusion.canvas import PIXELS, UNITS, Moves, Scale, on_canvas, scale_of
from examples.floorplan_diffusion.drawn_plans import DrawnPlan, changed_kinds, plan_of_rooms, rooms_per_face
from examples.floorplan_diffusion.named_outlines import find_names
from examples.floorplan_diffusion.plan_dxf import read_dxf_plan
from examples.floorplan_diffusion.plan_json import read_json_plans
from examples.floorplan_diffusion.plan_svg import read_svg_plan
from examples.floorplan_diffusion.plans import CANVAS, Plan
from snippets.errors import UsageError

Read = Callable[[Path, str | None, dict[str, int]], list[DrawnPlan]]
READERS: dict[str, Read] = {".json": read_json_plans, ".dxf": read_dxf_plan, ".svg": read_svg_plan}
SETTINGS = "config.json"  # in the folder of a run
MAP = "manifest.json"  # beside the files of an indoor map, which are GeoJSON
OTHERS = {  # suffixes with the way from them to a form that is read
    ".dwg": "DWG is not read; save it as DXF in the program that made it",
    ".png": "pictures are not read; GSDiff's scripts turn those of RPLAN into .npy files",
    ".jpg": "pictures are not read; draw a closed line for each room, and save as DXF or SVG",
    ".pdf": "PDF is not read; save as DXF or SVG",
    ".ifc": "IFC, a model of a building, is not read; save the floor plan as DXF",
    ".geojson": "GeoJSON is in degrees; save each floor in metres as DXF, in a GIS program such as QGIS",
    ".npz": "arrays such as HouseDiffusion's are no drawings; give the files that they were made from",
}


@dataclass
class Findings:
    """What was seen on the way from drawings to plans, for the report."""

    scale: Scale | None = None
    off: Moves = field(default_factory=Moves)  # of on_canvas
    notes: Counter = field(default_factory=Counter)  # what was not read, with counts
    bad: list[str] = field(default_factory=list)  # a line for each plan that cannot be represented

    def lines(self) -> Iterator[str]:
        """Yield what the user should know, a line each."""
        if self.scale is not None:
            metre = self.scale.pixels_per_metre
            side = f"the canvas of {CANVAS} pixels is {CANVAS / metre:.1f} m"
            yield f"scale      {metre:g} pixels per metre; {side}"
        moved, corners = self.off.moved, self.off.corners
        furthest = f", the furthest by {self.off.furthest:.2f} pixels" if moved else ""
        yield f"grid       {moved:,} of {corners:,} corners moved to whole pixels{furthest}"
        for what, count in self.notes.items():
            yield f"note       {count:,} {what}"


def find_drawings(folder: Path) -> list[Path]:
    """Return the JSON, DXF and SVG files in a folder, or else in those in it, or the file itself.

    Hidden files are none. Of one plan in several forms, the first one counts. A run of generate.py has its
    plans in plans.json or in the folder plans.
    """
    if folder.is_file():
        return [folder]
    if (folder / SETTINGS).is_file():
        return find_drawings(folder / ("plans.json" if (folder / "plans.json").is_file() else "plans"))
    if not folder.is_dir():
        return []
    for files in (folder.iterdir(), folder.rglob("*")):
        found = [f for f in files if f.is_file() and f.name != MAP and not f.name.startswith(".")]
        forms = {
            f.with_suffix(""): f for suffix in reversed(READERS) for f in found if f.suffix.lower() == suffix
        }
        if forms:
            return sorted(forms.values())
    return []


def read_drawings(
    files: Iterable[Path], unit: str | None, own: dict[str, int], bad: list[str] | None = None
) -> list[DrawnPlan]:
    """Return the plans in JSON, DXF and SVG files. Raises UsageError.

    With `bad`, the reasons of files that cannot be read are added to it, unless that are all of them.
    """
    plans: list[DrawnPlan] = []
    refused: list[str] = []
    for file in files:
        try:
            plans += reader_of(file)(file, unit, own)
        except UsageError as error:
            if bad is None:
                raise
            refused.append(str(error))
    if refused and not plans:
        likewise = f" ({len(refused) - 1:,} other files are not read either)" if len(refused) > 1 else ""
        raise UsageError(refused[0] + likewise)
    find_names(plans)
    if bad is not None:
        bad += refused
    return plans


def reader_of(file: Path) -> Read:
    """Return the function that reads a file. Raises UsageError with the way to a form that is read."""
    suffix = file.suffix.lower()
    if suffix not in READERS:
        known = f"one of {', '.join(READERS)}, .npy is read"
        raise UsageError(f"{file}: {OTHERS.get(suffix, known)}")
    return READERS[suffix]


def to_plans(drawn: list[DrawnPlan], scale: float | None, snap: float) -> tuple[list[Plan | None], Findings]:
    """Return the plans on the canvas, at `scale` pixels per metre or the largest that fits, and findings.

    A plan that cannot be one on the canvas is None, with its reason in the findings.
    """
    findings = Findings(Scale(scale) if scale else scale_of(drawn))
    plans: list[Plan | None] = []
    for one in drawn:
        placed = on_canvas(one, findings.scale, snap, findings.off)
        findings.notes.update(one.notes)
        try:
            plan = plan_of_rooms(placed.rooms)
        except ValueError as error:
            findings.bad.append(f"{one.where}: {error}{pixel_cure(one, str(error))}")
            plans.append(None)
            continue
        plans.append(plan)
        count = rooms_per_face(plan, placed.rooms).count(0)
        findings.notes["enclosed areas that are in no room; they count as rooms"] += count
        findings.notes["rooms whose kind the corners do not give back"] += changed_kinds(plan, placed.rooms)
    findings.notes = +findings.notes
    return plans, findings


def pixel_cure(plan: DrawnPlan, problem: str) -> str:
    """Return what to add to a problem with the canvas."""
    if plan.unit == PIXELS and "canvas" in problem:
        return f"; is one unit of the file not a pixel? --unit {'|'.join(UNITS)}"
    return "; a smaller --scale fits" if "canvas" in problem else ""
