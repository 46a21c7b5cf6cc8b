"""Labels in the headers of FASTA, and the part of the data set that some headers name, too."""

import re
import shlex
from pathlib import Path
from typing import NamedTuple

from examples.genomic_caduceus.fasta import Record
from snippets.errors import UsageError, one_line

OF_PARTS = dict.fromkeys(("train", "training"), "train") | dict.fromkeys(("test", "testing"), "test")
OF_PARTS |= dict.fromkeys(("dev", "val", "valid", "validation"), "val")
NAMED = re.compile(r"(?:^|\s)label[=:](\S+)")  # >id label=1
BEHIND_BAR = re.compile(r"\|([^|\s]+)$|^[^|]*\|(\S[^|]*)$")  # >id|1, and >id|promoter region with one bar
FEW = 5  # sequences of a class; with fewer in most, what is behind the bar is no class
MOST = 1000  # classes


class HeaderLabel(NamedTuple):
    """The label in a header, None without one, and the part of the data set, empty if none is named."""

    label: str | None
    part: str = ""


def label_in(header: str) -> HeaderLabel:
    """Return what a header says.

    It is >id|label, as the Nucleotide Transformer has it, >id|label|training, as iLearn has it, or label=.
    """
    if found := NAMED.search(header):
        return HeaderLabel(found[1])
    fields = [field.strip() for field in header.split("|")]
    if len(fields) > 2 and fields[-1].lower() in OF_PARTS:
        return HeaderLabel(fields[-2] or None, OF_PARTS[fields[-1].lower()])
    behind = BEHIND_BAR.search(header)
    return HeaderLabel(behind and (behind[1] or behind[2]))


class HeaderLabels:
    """The labels in the headers of one file, checked against one another."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.parts: set[str] = set()
        self.before: set[str] = set()
        self.behind: set[str] = set()
        self.records = 0

    def read(self, record: Record) -> HeaderLabel:
        """Return the label in the header of a record. Raises UsageError without one."""
        found = label_in(record.header)
        where = f"{self.path}, line {record.line}: {one_line('>' + record.header)!r:.60}"
        if found.label is None:
            raise UsageError(
                f"{where} has no label; write it as >id|1 or >id label=1 (a genome is for pretrain.py: "
                f"data={self.path})"
            )
        if not found.part and found.label.lower() in OF_PARTS:
            raise UsageError(f"{where} names a part and no class; write it as >id|1|{found.label}")
        self.parts.add(found.part)
        if len(self.parts) > 1 and "" in self.parts:
            raise UsageError(f"{where}: some headers name a part, such as |training, and others do not")
        self.records += 1
        if len(self.before) <= MOST:
            self.before.add(record.header.partition("|")[0])
        self.behind.add(found.label)
        return found

    def check(self) -> None:
        """Raise UsageError when the classes seem to be before the bar: >donor|1, >donor|2 and so on."""
        few, many = len(self.before), len(self.behind)
        if 2 <= few <= min(MOST, self.records // FEW) and many > self.records // FEW:
            path = shlex.quote(str(self.path))
            raise UsageError(
                f"{self.path}: {many:,} classes for {self.records:,} sequences; the class seems "
                f"to be before the bar: {', '.join(sorted(self.before))!s:.60}; turn them: "
                f"perl -pe 's/^>([^|]*)\\|(\\S+)/>$2|$1/' {path} > turned.fa"
            )
