"""Find for each pair the wrong payloads that a trained network scores highest, and write them as JSON lines.

With no option, it finds 8 for each training pair of the newest run, in its payload cache, by exact search.
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

from examples.programs.command_line import StrictParser, expanded, whole_number
from examples.programs.failures import explained_failures
from examples.programs.run_folder import check_target
from examples.two_tower.build_cache import NAME as CACHE
from examples.two_tower.embedding import each_context, embed_contexts
from examples.two_tower.faiss_process import find_with_faiss
from examples.two_tower.near_miss_files import (
    MOST,
    check_stamp,
    has_stamp,
    read_cache,
    weights_stamp,
    write_near_misses,
)
from examples.two_tower.negatives import NONE, Forbidden, find_near_misses
from examples.two_tower.retrieval import announcement
from examples.two_tower.trained import add_run, load_trained
from snippets.device import pick_device
from snippets.errors import RunError, exit_with_one_line, tell

NAME = "near_misses.jsonl"


def read_command_line(argv: Sequence[str] | None) -> Namespace:
    """Return the options. Raises UsageError."""
    parser = StrictParser(prog="mine_near_misses.py", description=(__doc__ or "").partition(",")[0] + ".")
    add_run(parser)
    add = parser.add_argument
    add("--p-cache", type=expanded, metavar="FILE.npy", help=f"{CACHE} in the run folder")
    add("--k", type=whole_number(1, MOST), default=8, help="near misses per pair; 8")
    add("--out", type=expanded, metavar="FILE.jsonl", help=f"{NAME} in the run folder")
    add("--faiss", action="store_true", help="search with FAISS, in a process of its own")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Write the near misses and print their number. Raises UsageError and RunError."""
    options = read_command_line(argv)
    device, reason = pick_device(options.device)
    trained = load_trained(options.run)
    pairs, file = trained.pairs, options.out or trained.folder / NAME
    check_target(file, has_stamp, [".jsonl"])
    stamp = weights_stamp(trained.content, pairs)
    cache_file = options.p_cache or trained.folder / CACHE
    cache = read_cache(cache_file, len(pairs), pairs.payloads.shape[1])
    note = check_stamp(cache_file, stamp, "build_cache.py")
    learned = (~trained.held_out).nonzero().flatten()
    forbidden = Forbidden(pairs.articles, pairs.payload_ids, trained.held_out)
    tell(f"network    {trained.checkpoint}, epoch {stamp['epoch']:g}")
    print(f"device     {device} ({reason})" + (", FAISS on the CPU" if options.faiss else ""))
    if note:
        tell(f"note       {note}")
    if not options.faiss and (long := announcement(pairs, len(learned), device, mines=True)):
        print(f"search     {long}")
    with explained_failures("out of memory; try --device cpu"):
        network = trained.model.to(device), pairs.contexts, learned, device
        if options.faiss:
            found = find_with_faiss(embed_contexts(*network).cpu(), learned, cache, forbidden, options.k)
        else:
            where = learned.to(device), cache.to(device), forbidden.to(device)
            found = find_near_misses(each_context(*network), *where, options.k).cpu()
    try:
        write_near_misses(file, learned, found, stamp)
    except OSError as error:
        raise RunError(f"cannot write {file}: {error.strerror}; choose another --out") from None
    covered = (found != NONE).any(1).float().mean().item()
    tell(f"written    {file}: {len(found):,} pairs, {covered:.0%} of them with a near miss")
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
