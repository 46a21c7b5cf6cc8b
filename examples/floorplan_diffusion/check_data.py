"""Check a data set of floor plans: our three files, or published .npy files, without executing their code.

With no option, it checks data/plans. It reads only the headers of published files, with --trust-pickle their
content. Exit code 1: a check failed.
"""

import shlex
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the folder of examples/ and snippets/
try:
    from examples.programs import imports

    imports.prepare(__file__)
except ModuleNotFoundError:
    print(f"error: {__file__} needs examples/ and snippets/, as in the handbook; copy both", file=sys.stderr)
    sys.exit(2)

import itertools

import numpy
from tqdm import tqdm

from examples.floorplan_diffusion.drawing import gallery
from examples.floorplan_diffusion.metrics import closed_share
from examples.floorplan_diffusion.plan_files import CONVERT, MAKE, SPLITS, holds_published_files, read_plans
from examples.floorplan_diffusion.plans import KINDS, Plan, PlanSet
from examples.floorplan_diffusion.published_files import (
    check_header,
    find_files,
    plan_of_entry,
    problems,
    read_bytes,
    read_entry,
)
from examples.programs.command_line import StrictParser, expanded, first_line
from examples.programs.run_folder import check_target
from snippets.atomic_write import replace_file
from snippets.errors import UsageError, exit_with_one_line, one_line, tell

Splits = dict[str, PlanSet]
DEFAULT = Path("data/plans")
SHOWN = 20  # problems to print
DRAWN = 12  # plans of the picture
CLOSED = 1000  # plans per split whose rooms are searched, a millisecond each


def read_command_line(argv: Sequence[str] | None) -> Namespace:
    """Return the options. Raises UsageError."""
    parser = StrictParser(prog="check_data.py", description=first_line(__doc__))
    parser.add_argument(
        "data", type=expanded, nargs="?", default=DEFAULT, metavar="FOLDER", help=str(DEFAULT)
    )
    parser.add_argument("--trust-pickle", action="store_true", help="read published files whole")
    what = f"draw the first {DRAWN} plans into this file; none"
    parser.add_argument("--picture", type=expanded, metavar="FILE.png", help=what)
    return parser.parse_args(argv)


def check(path: Path, trust: bool, picture: Path | None = None) -> int:
    """Print content and problems of a data set; return the exit code. Raises UsageError.

    The first plans are drawn into the new file `picture`.
    """
    if picture:
        check_target(picture, lambda file: False, [".png"], option="--picture")
    if not path.exists():
        raise UsageError(f"there is no {path}; to make a data set: {MAKE} --out {shlex.quote(str(path))}")
    tell(f"data       {path}")
    if path.suffix == ".npz":
        found, wrong = check_ours({path.stem: path})
    elif path.is_file():
        found, wrong = check_published(path, {"file": [path]}, trust)
    elif holds_published_files(path):
        found, wrong = check_published(path, find_files(path), trust)
    else:
        found, wrong = check_ours({split: path / f"{split}.npz" for split in SPLITS})
    wrong += describe(found)
    if picture and found:
        draw(picture, *next(iter(found.items())))
    for line in wrong[:SHOWN]:
        print(f"wrong      {one_line(line)}")
    if len(wrong) > SHOWN:
        print(f"wrong      {len(wrong) - SHOWN:,} more")
    if not wrong:
        print("result     nothing is wrong")
    return 1 if wrong else 0


def draw(picture: Path, split: str, plans: PlanSet) -> None:
    """Write a PNG file with the first plans. Raises OSError."""
    content = gallery(itertools.islice(plans, DRAWN), 3, width=720).png(background="white")
    replace_file(picture, lambda file: file.write(content))
    tell(f"drawn      {picture}: the first {min(DRAWN, len(plans))} plans of {split}")


def check_ours(files: dict[str, Path]) -> tuple[Splits, list[str]]:
    """Return the plans in our files by split, and the problems."""
    found, wrong = {}, []
    for split, file in files.items():
        try:
            found[split] = read_plans(file)
        except UsageError as error:
            wrong.append(str(error))
    return found, wrong


def check_published(path: Path, files: dict[str, list[Path]], trust: bool) -> tuple[Splits, list[str]]:
    """Print the number of published files by split; return the plans that were read, and the problems."""
    found, wrong = {}, []
    for split in files:
        print(f"{split:<10} {len(files[split]):,} files")
        plans = []
        on_terminal = {"disable": None, "leave": False, "file": sys.stdout}  # without a terminal: no bar
        for file in tqdm(files[split], desc=split, unit="plan", **on_terminal):
            try:
                if trust:
                    plans.append(checked_plan(file))
                else:
                    check_header(read_bytes(file, head=True))
            except ValueError as error:
                wrong.append(f"{file}: {error}")
        if plans:
            found[split] = PlanSet.of(split, str(path), plans)
    if not trust:
        print("note       only the heads were read: the content is pickled; --trust-pickle reads it")
        print(f"next       {CONVERT} {shlex.quote(str(path))} --trust-pickle")
    return found, wrong


def checked_plan(file: Path) -> Plan:
    """Return the plan in a published file. Raises ValueError when its content is malformed."""
    entry = read_entry(file)
    found = problems(entry)
    if found:
        raise ValueError("; ".join(found))
    return plan_of_entry(entry)


def describe(splits: Splits) -> list[str]:
    """Print corners, rooms and kinds of the plans of each split; return problems across splits."""
    for split, plans in splits.items():
        counts = plans.counts
        corners = f"{counts.min()} to {counts.max()} corners, {counts.double().mean():.1f} on average"
        some = list(itertools.islice(plans, CLOSED))
        closed = f"closed {closed_share(some):.1%}" + f" of {CLOSED:,}" * (len(some) < len(plans))
        print(f"{split:<10} {len(plans):,} plans, {corners}, {closed}")
        shares = plans.kinds.any(1).double().mean(0)
        print(
            f"{'':<10} " + ", ".join(f"{kind} {share:.0%}" for kind, share in zip(KINDS, shares, strict=True))
        )
    known = set(keys(splits.get("train", ())))
    wrong = []
    for split in ("val", "test"):
        again = sum(key in known for key in keys(splits.get(split, ())))
        if again:
            wrong.append(
                f"{again:,} plans of {split} are in train, too: results there do not tell anything new"
            )
    return wrong


def keys(plans: Iterable[Plan]) -> Iterator[bytes]:
    """Yield for each plan a key that is equal only for equal plans, in any order of corners."""
    for plan in plans:
        order = numpy.lexsort(plan.corners.T)
        place = order.argsort()
        walls = numpy.sort(place[plan.walls], axis=1)
        walls = walls[numpy.lexsort(walls.T)]
        yield b"/".join(part.tobytes() for part in (plan.corners[order], plan.kinds[order], walls))


def main(argv: Sequence[str] | None = None) -> int:
    """Check a data set; return 1 when a check failed. Raises UsageError."""
    options = read_command_line(argv)
    return check(options.data, options.trust_pickle, options.picture)


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
