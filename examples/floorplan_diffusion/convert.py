"""Write plans as train.npz, val.npz and test.npz, from JSON, DXF and SVG files or GSDiff's .npy files.

    python examples/floorplan_diffusion/convert.py flats.json --out data/own
    python examples/floorplan_diffusion/convert.py drawings --unit mm --snap 3 --out data/own
    python examples/floorplan_diffusion/convert.py rplang-v3-withsemantics --trust-pickle --out data/rplan

Without a folder train, a tenth of the plans becomes the validation split and a tenth the test split.
"""

import shlex
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the folder of examples/ and snippets/
try:
    from examples.programs import imports

    imports.prepare(__file__)
except ModuleNotFoundError:
    print(f"error: {__file__} needs examples/ and snippets/, as in the handbook; copy both", file=sys.stderr)
    sys.exit(2)

import numpy
from tqdm import tqdm

from examples.floorplan_diffusion.canvas import PIXELS, UNITS
from examples.floorplan_diffusion.open_forms import (
    OTHERS,
    READERS,
    find_drawings,
    read_drawings,
    to_plans,
)
from examples.floorplan_diffusion.plan_files import SPLITS, write_splits
from examples.floorplan_diffusion.plans import MOST_CORNERS, Plan, PlanSet, Splits
from examples.floorplan_diffusion.published_files import find_files, plan_of_entry, read_entry
from examples.floorplan_diffusion.room_words import LISTED, PLACES, normal
from examples.programs.command_line import StrictParser, expanded, first_line, number
from examples.programs.run_folder import check_empty
from snippets.errors import UsageError, exit_with_one_line, one_line, tell

SHOWN = 20  # unreadable files or plans to print
NAMED = 5  # files that are passed over
Parts = dict[str, list[Plan]]  # the plans of each split


def read_command_line(argv: Sequence[str] | None) -> Namespace:
    """Return the options. Raises UsageError."""
    parser = StrictParser(prog="convert.py", description=first_line(__doc__))
    add = parser.add_argument
    add(
        "source",
        type=expanded,
        metavar="FILE|FOLDER",
        help="a .json, .dxf or .svg file, or a folder with such or .npy files, or with train, val, test",
    )
    add("--out", type=expanded, default=Path("data/rplan"), metavar="DIR", help="data/rplan")
    add("--trust-pickle", action="store_true", help="read pickles; nothing in them is executed even then")
    add("--skip-bad", action="store_true", help="leave out what is no plan, or cannot be one on the canvas")
    add("--unit", choices=(*UNITS, PIXELS), help="of JSON, DXF and SVG; the file's, for SVG px")
    add("--scale", type=number(0, 1e4, above=True), help="pixels per metre; as the largest plan fits")
    add("--snap", type=number(0, 32), default=0.0, help="lines up to this many pixels apart become one; 0")
    add("--name", type=own_word, action="append", default=[], metavar="WORD=KIND", help=f"{LISTED}")
    return parser.parse_args(argv)


def own_word(text: str) -> tuple[str, int]:
    """Return a room's name and its place in KINDS from WORD=KIND. Raises ValueError."""
    word, _, kind = text.partition("=")
    if not normal(word) or kind not in PLACES:
        raise UsageError(f"--name {text}: write WORD=KIND with one of the kinds {LISTED}; none is no room")
    return normal(word), PLACES[kind]


def read_files(files: Sequence[Path], what: str) -> tuple[list[Plan], list[str]]:
    """Return the plans in the files, and a line with path and reason for each unreadable file."""
    plans, bad = [], []
    on_terminal = {"disable": None, "leave": False, "file": sys.stdout}  # without a terminal: no bar
    for file in tqdm(files, desc=what, unit="plan", **on_terminal):
        try:
            plans.append(plan_of_entry(read_entry(file)))
        except ValueError as error:
            bad.append(one_line(f"{file}: {error}"))
    return plans, bad


def read_published(options: Namespace) -> tuple[Parts, list[str], int]:
    """Return the plans in GSDiff's files by split, lines on bad files, and how many there are in all."""
    files = find_files(options.source)
    if not options.trust_pickle:
        raise UsageError(
            f"{files['train'][0]} is a pickle, which can run any command when NumPy opens it; --trust-pickle "
            "reads only numbers, texts, lists and dictionaries from such files, and executes nothing"
        )
    read = {split: read_files(files[split], split) for split in SPLITS}
    bad = [line for _, lines in read.values() for line in lines]
    return {split: plans for split, (plans, _) in read.items()}, bad, sum(map(len, files.values()))


def read_drawn(options: Namespace) -> tuple[Parts, list[str], int]:
    """Return the plans in JSON, DXF and SVG files by split, lines on bad plans, and how many there are."""
    folders = {split: options.source / split for split in SPLITS}
    split_up = all(folder.is_dir() for folder in folders.values())
    parts = folders if split_up else {"train": options.source}
    words = dict(options.name)
    files = {split: find_drawings(part) for split, part in parts.items()}
    bad: list[str] = []
    drawn = {split: read_drawings(found, options.unit, words, bad) for split, found in files.items()}
    plans, findings = to_plans([one for part in drawn.values() for one in part], options.scale, options.snap)
    print(*findings.lines(), *passed_over(options.source, {*chain(*files.values())}), sep="\n")
    bad += findings.bad
    good = [plan for plan in plans if plan is not None]
    if split_up:
        ends = numpy.cumsum([len(drawn[split]) for split in SPLITS])
        found = {split: plans[end - len(drawn[split]) : end] for split, end in zip(SPLITS, ends, strict=True)}
        usable = {split: [plan for plan in part if plan] for split, part in found.items()}
        return usable, bad, len(good) + len(bad)
    if len(good) < len(SPLITS):
        lines = "; ".join(bad[:1])
        raise UsageError(
            f"{options.source}: {len(good)} usable plans; it takes three or more. {lines}".rstrip()
        )
    order = numpy.random.default_rng(0).permutation(len(good)).tolist()
    tenth = max(1, len(good) // 10)
    cut = {"train": order[2 * tenth :], "val": order[:tenth], "test": order[tenth : 2 * tenth]}
    return {split: [good[one] for one in part] for split, part in cut.items()}, bad, len(good) + len(bad)


def passed_over(source: Path, files: set[Path]) -> Iterator[str]:
    """Yield a line with the names of the files of a folder that are not read, if there are any."""
    others = [one for one in files_in(source) if one not in files] if source.is_dir() else []
    if others:
        more = f" and {len(others) - NAMED} more" if len(others) > NAMED else ""
        yield f"not read   {', '.join(one.name for one in others[:NAMED])}{more}"


def files_in(folder: Path) -> list[Path]:
    """Return the files in a folder that are not hidden."""
    return sorted(file for file in folder.iterdir() if file.is_file() and not file.name.startswith("."))


def holds_drawings(source: Path) -> bool:
    """Return whether a path is a drawing, or a folder of drawings and no .npy files. Raises UsageError."""
    if not source.is_dir():
        return source.suffix != ".npy" and source.exists()
    if any(next(place.glob("*.npy"), None) for place in (source, *(source / split for split in SPLITS))):
        return bool(set(READERS) & {file.suffix.lower() for file in files_in(source)})
    if not find_drawings(source):
        others = [file for file in source.rglob("*") if file.suffix.lower() in OTHERS and file.is_file()]
        read_drawings(sorted(others)[:1], None, {})  # says what to do
        raise UsageError(f"{source} has no .json, .dxf, .svg or .npy files, and no folders with such files")
    return True


def main(argv: Sequence[str] | None = None) -> int:
    """Write the data set and print its content. Raises UsageError and RunError."""
    options = read_command_line(argv)
    check_empty(options.out)
    drawn = holds_drawings(options.source)
    parts, bad, total = (read_drawn if drawn else read_published)(options)
    what = "plans" if drawn else "files"
    for line in bad[:SHOWN]:
        tell(f"no plan    {line}")
    if len(bad) > SHOWN:
        print(f"no plan    {len(bad) - SHOWN:,} more")
    if bad and not options.skip_bad:
        raise UsageError(f"{len(bad):,} of {total:,} {what} are no plans; --skip-bad leaves them out")
    for split, plans in parts.items():
        if not plans:
            raise UsageError(f"{options.source}: no file of {split} is a plan")
    source = str(options.source)
    sets = (PlanSet.of(source, source, plans, MOST_CORNERS) for plans in parts.values())
    write_splits(options.out, Splits(*sets))
    print(f"left out   {len(bad):,} of {total:,} {what}")
    counts = ", ".join(f"{split} {len(plans):,}" for split, plans in parts.items())
    tell(f"written    {options.out}: {counts} plans")
    tell(f"next       python examples/floorplan_diffusion/check_data.py {shlex.quote(str(options.out))}")
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
