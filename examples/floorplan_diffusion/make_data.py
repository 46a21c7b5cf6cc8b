"""Write generated floor plans as a data set, a folder with train.npz, val.npz and test.npz.

With no option, it writes 4,000 training plans to data/plans. --data FOLDER only checks that folder.
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

from examples.floorplan_diffusion.check_data import DEFAULT, check
from examples.floorplan_diffusion.generated_plans import generate_splits
from examples.floorplan_diffusion.plan_files import SPLITS, write_splits
from examples.programs.command_line import StrictParser, expanded, first_line, whole_number
from examples.programs.run_folder import check_empty
from snippets.errors import exit_with_one_line, tell


def read_command_line(argv: Sequence[str] | None) -> Namespace:
    """Return the options. Raises UsageError."""
    parser = StrictParser(prog="make_data.py", description=first_line(__doc__))
    add = parser.add_argument
    add("--data", type=expanded, metavar="FOLDER", help="check this data set, and write nothing")
    add("--plans", type=whole_number(1, 10**6), default=4000, help="to learn from, and a tenth as many each")
    add("--seed", type=whole_number(0, 2**32 - 1), default=0, help="of the generated plans; 0")
    add("--out", type=expanded, default=DEFAULT, metavar="DIR", help=str(DEFAULT))
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Write a data set, or check one; print its content. Raises UsageError and RunError."""
    options = read_command_line(argv)
    if options.data:
        return check(options.data, trust=False)
    check_empty(options.out)
    splits = generate_splits(options.plans, options.seed)
    write_splits(options.out, splits)
    counts = ", ".join(f"{split} {len(getattr(splits, split)):,}" for split in SPLITS)
    size = sum(file.stat().st_size for file in options.out.iterdir())
    folder = shlex.quote(str(options.out))
    tell(f"written    {options.out}: {counts} plans, {size / 1e6:.1f} MB")
    tell(f"next       python examples/floorplan_diffusion/train_nodes.py --data {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
