"""Write published plans, one pickled .npy file each, as train.npz, val.npz and test.npz of plain numbers.

    python examples/floorplan_diffusion/convert.py rplang-v3-withsemantics --trust-pickle --out data/rplan

Without a folder train, a tenth of the files becomes the validation split and a tenth the test split.
"""

import shlex
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the folder of examples/ and snippets/
try:
    from examples.programs import imports

    imports.prepare(__file__)
except ModuleNotFoundError:
    print(f"error: {__file__} needs examples/ and snippets/, as in the handbook; copy both", file=sys.stderr)
    sys.exit(2)

from tqdm import tqdm

from examples.floorplan_diffusion.plan_files import SPLITS, write_splits
from examples.floorplan_diffusion.plans import MOST_CORNERS, Plan, PlanSet, Splits
from examples.floorplan_diffusion.published_files import find_files, plan_of_entry, read_entry
from examples.programs.command_line import StrictParser, expanded, first_line
from examples.programs.run_folder import check_empty
from snippets.errors import UsageError, exit_with_one_line, one_line, tell

SHOWN = 20  # unreadable files to print


def read_command_line(argv: Sequence[str] | None) -> Namespace:
    """Return the options. Raises UsageError."""
    parser = StrictParser(prog="convert.py", description=first_line(__doc__))
    add = parser.add_argument
    add(
        "source",
        type=expanded,
        metavar="FOLDER",
        help="with the folders train, val and test, or with .npy files",
    )
    add("--out", type=expanded, default=Path("data/rplan"), metavar="DIR", help="data/rplan")
    add("--trust-pickle", action="store_true", help="read pickles; nothing in them is executed even then")
    add("--skip-bad", action="store_true", help="leave out files that are no plans")
    return parser.parse_args(argv)


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


def main(argv: Sequence[str] | None = None) -> int:
    """Write the data set and print its content. Raises UsageError and RunError."""
    options = read_command_line(argv)
    check_empty(options.out)
    files = find_files(options.source)
    if not options.trust_pickle:
        raise UsageError(
            f"{files['train'][0]} is a pickle, which can run any command when NumPy opens it; --trust-pickle "
            "reads only numbers, texts, lists and dictionaries from such files, and executes nothing"
        )
    read = {split: read_files(files[split], split) for split in SPLITS}
    bad = [line for _, lines in read.values() for line in lines]
    for line in bad[:SHOWN]:
        tell(f"no plan    {line}")
    if len(bad) > SHOWN:
        print(f"no plan    {len(bad) - SHOWN:,} more")
    total = sum(map(len, files.values()))
    if bad and not options.skip_bad:
        raise UsageError(f"{len(bad):,} of {total:,} files are no plans; --skip-bad leaves them out")
    for split, (plans, _) in read.items():
        if not plans:
            raise UsageError(f"{options.source}: no file of {split} is a plan")
    source = str(options.source)
    write_splits(
        options.out,
        Splits(*(PlanSet.of(source, source, plans, MOST_CORNERS) for plans, _ in read.values())),
    )
    print(f"left out   {len(bad):,} of {total:,} files")
    counts = ", ".join(f"{split} {len(plans):,}" for split, (plans, _) in read.items())
    tell(f"written    {options.out}: {counts} plans")
    tell(f"next       python examples/floorplan_diffusion/check_data.py {shlex.quote(str(options.out))}")
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
