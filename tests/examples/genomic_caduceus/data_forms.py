"""The binary files of docs/data/data_forms/genomic_caduceus.yaml, as their sources write them."""

import gzip
import struct
import zlib

import pyarrow
from pyarrow import parquet

TRAIN = (["ACGTTGCAAC", "GGGCCCATAA", "ACGTTGCAAG"], [0, 1, 0])
TEST = (["GGGCCCATAG", "ACGTTGCAAT"], [1, 0])
HG38 = ">chr1\n" + "NNNNACGTTGCAACacgtacgtACGTACGTACGTACGTAC\n" + ">chr2\n" + "ACGTTGCAAC" * 4 + "\n"


def write_table(path, rows, **others):
    """Write sequences and labels with other columns."""
    path.parent.mkdir(parents=True, exist_ok=True)
    first, last = others.pop("names")
    parquet.write_table(pyarrow.table({first: rows[0], **others, last: rows[1]}), path)


def hugging_face_parquet(folder):
    """Write data/train-00000-of-00002-….parquet and so on: seq and label."""
    names = ("seq", "label")
    for number, rows in enumerate(zip(*TRAIN, strict=True)):
        part = ([rows[0]], [rows[1]])
        write_table(folder / f"data/train-0000{number}-of-00003-aeb55728756a44ae.parquet", part, names=names)
    write_table(folder / "data/test-00000-of-00001-d7614d9116c62f44.parquet", TEST, names=names)


def nucleotide_transformer_parquet(folder):
    """Write a task of the Nucleotide Transformer, with the FASTA files that are there, too."""
    for part, rows in (("train", TRAIN), ("test", TEST)):
        ids = [f"chr1:{number}" for number in range(len(rows[0]))]
        others = {"name": ids, "task": ["H3"] * len(ids), "names": ("sequence", "label")}
        write_table(folder / f"{part}.parquet", rows, **others)
        (folder / f"{part}.fna").write_text(">only in FASTA|7\nACGTACGT\n")


def bgzip(content, block=25):
    """Return content as bgzip writes it: gzip members with their size in an extra field, and an empty end."""
    found = b""
    for start in [*range(0, len(content), block), len(content)]:
        part = content[start : start + block]
        packer = zlib.compressobj(wbits=-15)
        packed = packer.compress(part) + packer.flush()
        head = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0" + struct.pack("<H", len(packed) + 25)
        found += head + packed + struct.pack("<II", zlib.crc32(part), len(part))
    return found


def ucsc_bgzip(folder):
    """Write hg38.fa.gz in blocks."""
    content = bgzip(HG38.encode())
    assert gzip.decompress(content) == HG38.encode()
    (folder / "hg38.fa.gz").write_bytes(content)


def ucsc_two_bit(folder):
    """Write the head of a .2bit file: its signature, and one sequence."""
    (folder / "hg38.2bit").write_bytes(struct.pack("<IIII", 0x1A412743, 0, 1, 0) + b"\x04chr1" + bytes(40))
