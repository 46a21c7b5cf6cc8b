"""Write the payload vectors of a trained network: a cache for near misses and for extra negatives.

With no option, it writes those of the newest run to p_cache.npy in its folder, with one row per pair.
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

from examples.programs.command_line import StrictParser, expanded, first_line
from examples.programs.failures import explained_failures
from examples.programs.run_folder import check_target
from examples.two_tower.embedding import embed_payloads
from examples.two_tower.near_miss_files import has_stamp, weights_stamp, write_cache
from examples.two_tower.trained import add_run, load_trained
from snippets.device import pick_device
from snippets.errors import RunError, exit_with_one_line, tell

NAME = "p_cache.npy"


def read_command_line(argv: Sequence[str] | None) -> Namespace:
    """Return the options. Raises UsageError."""
    parser = StrictParser(prog="build_cache.py", description=first_line(__doc__))
    add_run(parser)
    parser.add_argument("--out", type=expanded, metavar="FILE.npy", help=f"{NAME} in the run folder")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Write the cache and print its path. Raises UsageError and RunError."""
    options = read_command_line(argv)
    device, reason = pick_device(options.device)
    trained = load_trained(options.run)
    file = options.out or trained.folder / NAME
    check_target(file, has_stamp, [".npy"])
    with explained_failures("out of memory; try --device cpu"):
        vectors = embed_payloads(trained.model.to(device), trained.pairs.payloads, device).cpu()
    stamp = weights_stamp(trained.content, trained.pairs)
    try:
        write_cache(file, vectors, stamp)
    except OSError as error:
        raise RunError(f"cannot write {file}: {error.strerror}; choose another --out") from None
    tell(f"network    {trained.checkpoint}, epoch {stamp['epoch']:g}")
    print(f"device     {device} ({reason})")
    tell(f"written    {file}: {len(vectors):,} payloads, {vectors.shape[1]} numbers each")
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
