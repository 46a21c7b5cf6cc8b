"""Write the trained networks of both stages into one small file, from which generate.py draws.

python examples/floorplan_diffusion/pack.py --nodes RUN --edges RUN --out networks.npz
python examples/floorplan_diffusion/generate.py --nodes networks.npz --edges networks.npz
"""

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

import numpy

from examples.floorplan_diffusion.packed_networks import pack
from examples.floorplan_diffusion.trained import EDGES, NODES, load_trained
from examples.programs.command_line import StrictParser, expanded, first_line
from examples.programs.run_folder import check_target
from snippets.atomic_write import replace_file
from snippets.errors import exit_with_one_line, tell


def read_command_line(argv: Sequence[str] | None) -> Namespace:
    """Return the options. Raises UsageError."""
    parser = StrictParser(prog="pack.py", description=first_line(__doc__))
    add = parser.add_argument
    add("--nodes", type=expanded, metavar="RUN|CHECKPOINT", help=f"stage 1; the newest run in {NODES.runs}")
    add("--edges", type=expanded, metavar="RUN|CHECKPOINT", help=f"stage 2; the newest run in {EDGES.runs}")
    add("--out", type=expanded, default=Path("networks.npz"), metavar="FILE.npz", help="networks.npz")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Write the file. Raises UsageError and OSError."""
    options = read_command_line(argv)
    check_target(options.out, lambda file: False, [".npz"])
    arrays = {}
    for stage, run in ((NODES, options.nodes), (EDGES, options.edges)):
        trained = load_trained(stage, run)
        config = {name: trained.content["config"][name] for name in ("system", "options", "places")}
        about = {"config": config, "step": trained.content["step"]}
        for part, array in pack(trained.network.state_dict(), about).items():
            arrays[f"{stage.program}_{part}"] = array
        parameters = sum(weight.numel() for weight in trained.network.parameters())
        print(f"stage {stage.number}    {trained.checkpoint}: {parameters:,} parameters")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    replace_file(options.out, lambda file: numpy.savez_compressed(file, **arrays))
    tell(f"written    {options.out}: {options.out.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
