"""Evaluate retrieval of all payloads by the held-out contexts of a run, before and after training.

With no option, it uses the best network of the newest run. It writes evaluation.json into the run folder.
"""

import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the folder of examples/ and snippets/
try:
    from examples.programs import imports

    imports.prepare(__file__)
except ModuleNotFoundError:
    print(f"error: {__file__} needs examples/ and snippets/, as in the handbook; copy both", file=sys.stderr)
    sys.exit(2)

import torch

from examples.programs.command_line import StrictParser, expanded, first_line
from examples.programs.failures import explained_failures
from examples.programs.report import provenance
from examples.programs.run_folder import check_target
from examples.programs.trained import report_on
from examples.two_tower.retrieval import announcement, network_scores, reference_scores
from examples.two_tower.trained import Trained, add_run, load_trained
from snippets.atomic_write import replace_json
from snippets.device import pick_device
from snippets.errors import UsageError, exit_with_one_line, tell

COLUMNS = {
    "recall_1": "R@1",
    "recall_5": "R@5",
    "recall_10": "R@10",
    "recall_50": "R@50",
    "mrr": "MRR",
    "contain_50": "Contain@50",
}
ROWS = {"untrained": "without training", "trained": "trained", "best": "at best"}


def read_command_line(argv: Sequence[str] | None) -> Namespace:
    """Return the options. Raises UsageError."""
    parser = StrictParser(prog="evaluate.py", description=first_line(__doc__))
    add_run(parser)
    parser.add_argument("--out", type=expanded, metavar="DIR", help="where to write; the run folder")
    return parser.parse_args(argv)


def scores(trained: Trained, device: torch.device) -> dict[str, dict[str, float]]:
    """Return the retrieval scores of the untrained vectors, of the network and of the best scorer."""
    pairs, rows = trained.pairs, trained.held_out.nonzero().flatten()
    found = reference_scores(pairs, rows, device)
    found["trained"] = network_scores(trained.model.to(device), pairs, rows, device)
    return {name: values for name in ROWS if (values := found[name]) is not None}


def table(found: dict[str, dict[str, float]]) -> Iterator[str]:
    """Yield the lines of a table of scores."""
    yield " " * 18 + "".join(f"{title:>11}" for title in COLUMNS.values())
    for name, values in found.items():
        cells = (f"{values[key]:11.3f}" if key == "mrr" else f"{values[key]:11.1%}" for key in COLUMNS)
        yield f"{ROWS[name]:18}" + "".join(cells)


def main(argv: Sequence[str] | None = None) -> int:
    """Evaluate the run of the command line and return the exit code. Raises UsageError."""
    options = read_command_line(argv)
    device, reason = pick_device(options.device)
    trained = load_trained(options.run)
    folder = options.out or trained.folder
    check_target(folder / "evaluation.json", report_on(trained.folder, "queries", "bank"))
    count = int(trained.held_out.sum())
    tell(f"network    {trained.checkpoint}, step {trained.content['step']:,}")
    print(f"device     {device} ({reason})")
    print(f"held out   {count:,} contexts, which look for their payloads among {len(trained.pairs):,}")
    if trained.note:
        tell(f"note       {trained.note}")
    print("note       best.pt was chosen by its score on these contexts: on new ones, expect a little less")
    if long := announcement(trained.pairs, count, device):
        print(f"scores     {long}, without training and with it")
    with explained_failures("out of memory; try --device cpu, which may have more"):
        found = scores(trained, device)
    report: dict[str, Any] = {
        "checkpoint": str(trained.checkpoint),
        "step": trained.content["step"],
        "queries": count,
        "bank": len(trained.pairs),
        **found,
        "provenance": provenance(),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        replace_json(folder / "evaluation.json", report)
    except OSError as error:
        raise UsageError(f"cannot write to {folder}: {error.strerror}; name another with --out") from None
    print(*table(found), sep="\n")
    tell(f"written    {folder / 'evaluation.json'}")
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
