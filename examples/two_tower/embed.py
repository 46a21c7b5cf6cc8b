"""Write the vectors that a trained network gives to new texts, and an index of them for other programs.

Texts that search (--side query) go through one tower, texts that are found (--side document) through the
other. The vectors have length 1, and the product of two is the score of a pair.
"""

import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the folder of examples/ and snippets/
try:
    from examples.programs import imports

    imports.prepare(__file__)
except ModuleNotFoundError:
    print(f"error: {__file__} needs examples/ and snippets/, as in the handbook; copy both", file=sys.stderr)
    sys.exit(2)

import numpy
import torch

from examples.programs.array_files import read_npy
from examples.programs.command_line import StrictParser, expanded, first_line
from examples.programs.failures import explained_failures
from examples.programs.run_folder import check_empty, check_target, write_whole
from examples.two_tower.embedded import EMBEDDED, VECTORS, column_names, vectors_of, write_about
from examples.two_tower.encoders import Encoder
from examples.two_tower.faiss_process import is_index, write_index
from examples.two_tower.nearest import bar
from examples.two_tower.pair_tables import read_texts
from examples.two_tower.texts import NAME as TEXTS
from examples.two_tower.texts import Texts, clean, line_of
from examples.two_tower.trained import Trained, encoder_for, load_trained
from snippets.atomic_write import replace_file
from snippets.device import pick_device
from snippets.errors import RunError, UsageError, exit_with_one_line, tell
from snippets.stop_signals import terminate_like_ctrl_c

SIDES = ("query", "document")


def read_command_line(argv: Sequence[str] | None) -> Namespace:
    """Return the options. Raises UsageError."""
    parser = StrictParser(prog="embed.py", description=first_line(__doc__))
    add = parser.add_argument
    add("run", type=expanded, metavar="RUN|CHECKPOINT", help="run folder, or a .pt file in it")
    add(
        "file", type=expanded, metavar="FILE", help="texts: .txt (one per line), .csv, .tsv, .jsonl, .parquet"
    )
    add("--side", choices=SIDES, required=True, help="whether the texts search, or are found")
    add("--out", type=expanded, required=True, metavar="FOLDER|FILE.npy", help="a folder has the texts, too")
    add("--column", metavar="NAME", help="of the texts; found by common names")
    add("--index", type=expanded, metavar="FILE.faiss", help="also write an index for FAISS")
    devices = ("auto", "mps", "cuda", "cpu")
    add("--device", default="auto", choices=devices, help="auto: CUDA, then MPS, then CPU")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Write the vectors of the texts and print where. Raises UsageError and RunError."""
    options = read_command_line(argv)
    alone = options.out.suffix.lower() == ".npy"
    check_target(options.out, is_vectors, [".npy"]) if alone else check_empty(options.out)
    if options.index:
        check_target(options.index, is_index, [".faiss"], option="--index")
    device, reason = pick_device(options.device)
    trained = load_trained(options.run)
    encoder = encoder_for(trained, device)
    tell(f"network    {trained.checkpoint}, step {trained.content['step']:,}")
    print(f"device     {device} ({reason})")
    if trained.note:
        tell(f"note       {trained.note}")
    work = Work(options, trained, encoder, device)
    with terminate_like_ctrl_c(), explained_failures("out of memory; try --device cpu"):
        try:
            replace_file(options.out, work.into_file) if alone else write_whole(options.out, work.into_folder)
        except OSError as error:
            raise RunError(f"cannot write {options.out}: {error.strerror}; choose another --out") from None
    tell(f"written    {options.out}: {work.count:,} texts, {encoder.width} numbers each")
    if work.unread:
        tell(
            f"note       in {work.unread:,} of the texts the encoder finds nothing; their vectors say nothing"
        )
    if options.index:
        write_index(options.out if alone else options.out / VECTORS, options.index)
        tell(f"written    {options.index}: for faiss.read_index")
    return 0


def is_vectors(file: Path) -> bool:
    """Return whether a file has vectors that may be replaced: float32 of two axes."""
    try:
        found = read_npy(file, mapped=True)
    except (OSError, UsageError):
        return False
    return found.dtype == numpy.float32 and found.ndim == 2


class Work:
    """The vectors of a file of texts: the texts first, so that their number is known, then the vectors."""

    def __init__(self, options: Namespace, trained: Trained, encoder: Encoder, device: torch.device) -> None:
        self.options, self.trained, self.encoder, self.device = options, trained, encoder, device
        self.count = self.unread = 0

    def read(self) -> Iterator[str]:
        """Yield the texts. Raises UsageError."""
        options = self.options
        for place, text in read_texts(options.file, options.column, column_names(options.side)):
            yield clean(text, place)

    def gather(self, take: Callable[[str], object]) -> None:
        """Read all texts, count them, and give each to `take`. Raises UsageError when there is none."""
        with bar(0, "reading", " texts") as done:
            for text in self.read():
                take(text)
                self.count += 1
                self.unread += not self.encoder.reads(text)
                done.update()
        if not self.count:
            raise UsageError(f"{self.options.file} has no text")

    def write(self, file: BinaryIO, texts: Iterator[list[str]]) -> None:
        """Write the vectors of texts as .npy."""
        shape = (self.count, self.encoder.width)
        header = {"descr": "<f4", "fortran_order": False, "shape": shape}
        numpy.lib.format.write_array_header_1_0(file, header)
        with bar(self.count, "embedding", " texts") as done:
            for part in texts:
                found = vectors_of(self.trained.model, self.encoder, self.options.side, part, self.device)
                file.write(found.cpu().numpy().astype("<f4").tobytes())
                done.update(len(part))

    def into_file(self, file: BinaryIO) -> None:
        """Write the vectors alone, in the order of the texts; the texts are read twice."""
        self.gather(lambda text: None)
        self.write(file, parts(self.read()))

    def into_folder(self, folder: Path) -> None:
        """Write vectors, texts and where they come from."""
        replace_file(folder / TEXTS, lambda file: self.gather(lambda text: file.write(line_of(text))))
        texts = Texts(folder / TEXTS)
        found = ([strings[0] for strings in part] for part in texts.parts(EMBEDDED))
        replace_file(folder / VECTORS, lambda file: self.write(file, found))
        write_about(folder, self.trained, self.options.side, self.count)


def parts(texts: Iterator[str]) -> Iterator[list[str]]:
    """Yield texts in lists."""
    part: list[str] = []
    for text in texts:
        part.append(text)
        if len(part) == EMBEDDED:
            yield part
            part = []
    if part:
        yield part


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
