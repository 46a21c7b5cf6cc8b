"""Type a sentence, and see the five nearest passages of this handbook, before and after training.

python examples/two_tower/search.py "out of memory on a Mac"
"""

import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the folder of examples/ and snippets/
try:
    from examples.programs import imports

    imports.prepare(__file__)
except ModuleNotFoundError:
    print(f"error: {__file__} needs examples/ and snippets/, as in the handbook; copy both", file=sys.stderr)
    sys.exit(2)

import torch

from examples.programs.command_line import StrictParser, first_line
from examples.two_tower.embedding import embed_contexts, embed_payloads
from examples.two_tower.ngrams import context_vectors, text_vector
from examples.two_tower.pairs import Passage
from examples.two_tower.trained import Trained, add_run, load_trained
from snippets.device import pick_device
from snippets.errors import UsageError, exit_with_one_line, tell

SHOWN = 5


def read_command_line(argv: Sequence[str] | None) -> Namespace:
    """Return the options. Raises UsageError."""
    parser = StrictParser(prog="search.py", description=first_line(__doc__))
    parser.add_argument("sentence", nargs="?", help="in English; without one, they are read from the input")
    add_run(parser)
    return parser.parse_args(argv)


def nearest(scores: torch.Tensor, passages: list[Passage], held_out: torch.Tensor) -> Iterator[str]:
    """Yield a line for each of the five passages with the highest scores (N,)."""
    best = scores.topk(SHOWN)
    for score, row in zip(best.values.tolist(), best.indices.tolist(), strict=True):
        passage = passages[row]
        mark = " (held out)" if held_out[row] else ""
        yield f"    {score:5.2f}  {passage.page}#{passage.section}{mark}"
        yield f"           {passage.english}"
        yield f"           {passage.chinese}"


def answer(
    trained: Trained, passages: list[Passage], sentence: str, bank: torch.Tensor, device: torch.device
) -> Iterator[str]:
    """Yield the nearest passages by shared words and names, then by the network."""
    plain = trained.pairs.payloads @ text_vector(sentence)
    yield "before training, by the words and names that both languages share:"
    if plain.any():
        yield from nearest(plain, passages, trained.held_out)
    else:
        yield "    nothing: no word or name of the sentence is in any passage"
    context = context_vectors(sentence).unsqueeze(0)
    query = embed_contexts(trained.model, context, torch.zeros(1, dtype=torch.int64), device)[0]
    yield "after training:"
    yield from nearest((bank @ query).cpu(), passages, trained.held_out)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the nearest passages of the sentence, or of each line of the input. Raises UsageError."""
    options = read_command_line(argv)
    device, _ = pick_device(options.device)
    trained = load_trained(options.run)
    passages = trained.pairs.passages
    if passages is None:
        raise UsageError(
            f"{trained.checkpoint} learned from --data {trained.options.data}, which has no texts; "
            "search.py needs a run with --data pages"
        )
    model = trained.model.to(device)
    bank = embed_payloads(model, trained.pairs.payloads, device)
    tell(f"network    {trained.checkpoint}; {len(bank):,} Chinese passages")
    for sentence in [options.sentence] if options.sentence else sys.stdin:
        if sentence.strip():
            print(*answer(trained, passages, sentence.strip(), bank, device), sep="\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
