"""Type a sentence, and see the five nearest texts, before and after training.

python examples/two_tower/search.py "out of memory on a Mac"
"""

import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the folder of examples/ and snippets/
try:
    from examples.programs import imports

    imports.prepare(__file__)
except ModuleNotFoundError:
    print(f"error: {__file__} needs examples/ and snippets/, as in the handbook; copy both", file=sys.stderr)
    sys.exit(2)

import torch

from examples.programs.command_line import StrictParser, expanded, first_line
from examples.two_tower.embedded import EMBEDDED, column_names, read_embedded, vectors_of
from examples.two_tower.embedding import EmbeddedPayloads, embed_payloads
from examples.two_tower.encoders import Encoder
from examples.two_tower.nearest import PIECE, Nearest, bar, numbered
from examples.two_tower.pair_tables import read_texts
from examples.two_tower.texts import Text, clean
from examples.two_tower.trained import Trained, add_run, encoder_for, load_trained
from snippets.device import pick_device
from snippets.errors import UsageError, exit_with_one_line, tell

SHOWN = 5
MOST = 100_000  # documents of a file, which are embedded anew for each start
CUT = 200  # characters of a text that are shown


def read_command_line(argv: Sequence[str] | None) -> Namespace:
    """Return the options. Raises UsageError."""
    parser = StrictParser(prog="search.py", description=first_line(__doc__))
    parser.add_argument("sentence", nargs="?", help="without one, they are read from the input")
    add_run(parser)
    about = "search these instead of the data of the run: a file of texts, or a folder of embed.py"
    parser.add_argument("--documents", type=expanded, metavar="FILE|FOLDER", help=about)
    parser.add_argument("--column", metavar="NAME", help="of the texts in that file; found by common names")
    return parser.parse_args(argv)


@dataclass
class Bank:
    """What is searched: texts, and their vectors in pieces, without training (None: unknown) and with it."""

    texts: Sequence[Text]
    plain: Iterable[torch.Tensor] | None
    trained: Iterable[torch.Tensor]
    held_out: torch.Tensor | None = None  # which texts the network has not learned from


def bank_of_run(trained: Trained, device: torch.device) -> Bank:
    """Return the payloads of the run's own data. Raises UsageError when their texts are unknown."""
    pairs = trained.pairs
    if pairs.texts is None:
        raise UsageError(
            f"{trained.checkpoint} learned from --data {trained.options.data}, which has no texts; "
            "train with texts (encode.py), or with --data pages"
        )
    few = len(pairs) <= PIECE
    bank = EmbeddedPayloads(trained.model, pairs.payloads, device)
    known = [embed_payloads(trained.model, pairs.payloads, device)] if few else bank
    return Bank(pairs.texts, pairs.payloads.split(PIECE), known, trained.held_out)


def bank_of_documents(options: Namespace, trained: Trained, encoder: Encoder, device: torch.device) -> Bank:
    """Return the documents in a file or in a folder of embed.py. Raises UsageError."""
    path = options.documents
    if path.is_dir():
        vectors, texts = read_embedded(path, trained)
        return Bank(texts, None, vectors.split(PIECE))
    found: list[Text] = []
    for place, text in read_texts(path, options.column, column_names("document")):
        found.append(Text(place, "", clean(text, place)))
        if len(found) > MOST:
            again = f"embed.py {trained.folder} {path} --side document --out FOLDER, then --documents FOLDER"
            raise UsageError(f"{path} has more than {MOST:,} texts; embed them once: {again}")
    if not found:
        raise UsageError(f"{path} has no text")
    plain, known = [], []
    with bar(len(found), "embedding", " texts") as done:
        for start in range(0, len(found), EMBEDDED):
            part = [text.document for text in found[start : start + EMBEDDED]]
            plain.append(encoder.documents(part))
            known.append(vectors_of(trained.model, encoder, "document", part, device))
            done.update(len(part))
    return Bank(found, plain, known)


def nearest(query: torch.Tensor, pieces: Iterable[torch.Tensor], bank: Bank) -> Iterator[str]:
    """Yield a line or more for each of the five texts whose vectors score highest with `query` (width,)."""
    best = Nearest(1, min(SHOWN, len(bank.texts)), query.device)
    with bar(len(bank.texts), "searching", " texts") as done:
        for place, piece in numbered(pieces):
            best.add(slice(0, 1), query.unsqueeze(0) @ piece.to(query.device).T, place.start)
            done.update(len(piece))
    for score, row in zip(best.scores[0].tolist(), best.rows[0].tolist(), strict=True):
        text = bank.texts[row]
        mark = " (held out)" if bank.held_out is not None and bank.held_out[row] else ""
        yield f"    {score:5.2f}  {text.place}{mark}"
        yield from (f"           {shown(line)}" for line in text[1:] if line and line != text.place)


def shown(text: str) -> str:
    """Return a text in one line, cut where it is long."""
    text = " ".join(text.split())
    return text if len(text) <= CUT else f"{text[:CUT]}…"


def answer(
    trained: Trained, encoder: Encoder, sentence: str, bank: Bank, device: torch.device
) -> Iterator[str]:
    """Yield the nearest texts by the encoder alone, then by the network."""
    if bank.plain is not None:
        plain = encoder.contexts([sentence])[0, -1].to(device)
        both = ", by the words and names that both languages share" if trained.options.data == "pages" else ""
        yield f"before training{both}:"
        if plain.any():
            yield from nearest(plain, bank.plain, bank)
        else:
            yield "    nothing: the encoder finds no word of the sentence"
    query = vectors_of(trained.model, encoder, "query", [sentence], device)[0]
    yield "after training:"
    yield from nearest(query, bank.trained, bank)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the nearest texts of the sentence, or of each line of the input. Raises UsageError."""
    options = read_command_line(argv)
    if options.column and (options.documents is None or options.documents.is_dir()):
        raise UsageError("--column names a column of a file of --documents; leave it out")
    device, _ = pick_device(options.device)
    trained = load_trained(options.run)
    trained.model.to(device)
    if options.documents is None:
        bank = bank_of_run(trained, device)
        encoder = encoder_for(trained, device)
    else:
        encoder = encoder_for(trained, device)
        bank = bank_of_documents(options, trained, encoder, device)
    kind = "Chinese passages" if trained.options.data == "pages" and not options.documents else "documents"
    tell(f"network    {trained.checkpoint}; {len(bank.texts):,} {kind}")
    for sentence in [options.sentence] if options.sentence else sys.stdin:
        if sentence.strip():
            tell("\n".join(answer(trained, encoder, sentence.strip(), bank, device)))
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
