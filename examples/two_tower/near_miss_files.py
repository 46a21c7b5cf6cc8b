"""Near misses in a .jsonl file and payload caches in a .npy file, from one run for another.

    {"q_index": 17, "near_miss_indices": [203, 41]}        row numbers of the whole data set

Beside each is FILE.stamp.json with the identity of data and weights, and the checksum of FILE.
"""

import json
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy
import torch

from examples.programs.array_files import read_npy
from examples.programs.run_folder import json_with, read_json
from examples.two_tower.negatives import NONE
from examples.two_tower.pairs import Pairs
from snippets.atomic_write import replace_file, replace_json
from snippets.errors import UsageError
from snippets.foreign_files import PACKED, UNPACKED, lines_of, open_regular
from snippets.untrusted_checkpoints import tensors_crc32

MOST = 1000  # near misses of a row
QUERY = ("q_index", "query_idx")  # the guide's project writes either key
FOUND = ("near_miss_indices", "negative_indices")


def stamp_of(file: Path) -> Path:
    """Return the path of the stamp of `file`."""
    return file.with_name(f"{file.name}.stamp.json")


def weights_stamp(checkpoint: dict[str, Any], pairs: Pairs) -> dict[str, Any]:
    """Return the identity of a checkpoint's weights: checksum, steps and data."""
    epoch = round(checkpoint["step"] / checkpoint["config"]["steps_per_epoch"], 2)
    return {
        "weights_crc32": tensors_crc32(weights for _, weights in sorted(checkpoint["model"].items())),
        "step": checkpoint["step"],
        "epoch": epoch,
        "data_crc32": pairs.fingerprint(),
    }


def has_stamp(file: Path) -> bool:
    """Return whether `file` has a stamp of this program."""
    return json_with("weights_crc32", "data_crc32")(stamp_of(file))


def checksum(file: Path) -> int:
    """Return the CRC-32 of a file's bytes. Raises OSError."""
    found = 0
    with open_regular(file) as content:
        while part := content.read(1 << 20):
            found = zlib.crc32(part, found)
    return found


def write_stamped(file: Path, write: Callable[[BinaryIO], Any], stamp: dict[str, Any]) -> None:
    """Replace the stamp of `file`, with the checksum of the new content, then `file`. Raises OSError.

    If the process dies between the two, or another one writes them, the stamp does not match the file.
    """

    def write_both(target: BinaryIO) -> None:
        write(target)
        target.flush()
        replace_json(stamp_of(file), stamp | {"file_crc32": checksum(Path(target.name))})

    replace_file(file, write_both)


def check_stamp(file: Path, weights: dict[str, Any], command: str) -> str | None:
    """Return a note when `file` has no stamp, or one without a checksum.

    Raises UsageError when it was made from other weights or data, or was changed since.
    """
    stamp = read_json(stamp_of(file))
    if stamp is None:
        return f"{file} has no {stamp_of(file).name}: nobody can tell whether these weights made it"
    if stamp.get("data_crc32") != weights["data_crc32"]:
        raise UsageError(f"{file} was made from other data; make it anew with {command}")
    if stamp.get("weights_crc32") != weights["weights_crc32"]:
        raise UsageError(
            f"{file} was made by the weights of epoch {stamp.get('epoch')}, and these are of epoch "
            f"{weights['epoch']}: their vectors mean different things; make it anew with {command}"
        )
    if "file_crc32" not in stamp:
        return f"{stamp_of(file)} has no checksum of the file: nobody can tell whether they belong together"
    if stamp["file_crc32"] != checksum(file):
        raise UsageError(
            f"{file} is not the file that {stamp_of(file).name} was written for; make it anew with "
            f"{command}, or remove the stamp if the change is yours"
        )
    return None


def write_cache(file: Path, vectors: torch.Tensor, stamp: dict[str, Any]) -> None:
    """Write the payload vectors (N, width) and their stamp. Raises OSError."""
    write_stamped(file, lambda target: numpy.save(target, vectors.numpy()), stamp)


def read_cache(file: Path, rows: int, width: int) -> torch.Tensor:
    """Return the payload vectors (rows, width) in `file`. Raises UsageError when it has other content."""
    try:
        vectors = read_npy(file, mapped=True)
    except FileNotFoundError:
        raise UsageError(f"there is no {file}; make it: python examples/two_tower/build_cache.py") from None
    if vectors.dtype != numpy.float32 or vectors.shape != (rows, width):
        raise UsageError(
            f"{file} holds {vectors.dtype} of shape {vectors.shape}; a row of each of the {rows} pairs is "
            f"float32 {width} wide; make it anew: python examples/two_tower/build_cache.py"
        )
    parts = (vectors[start : start + 4096] for start in range(0, rows, 4096))  # it may exceed the memory
    if not all(numpy.isfinite(part).all() for part in parts):
        raise UsageError(f"{file} holds NaN or infinity; make it anew")
    return torch.from_numpy(vectors)


def write_near_misses(file: Path, rows: torch.Tensor, found: torch.Tensor, stamp: dict[str, Any]) -> None:
    """Write near misses `found` (n, k), a line for each of `rows` (n,), and the stamp. Raises OSError."""

    def write(target: BinaryIO) -> None:
        for row, ids in zip(rows, found, strict=True):
            near = ids[ids != NONE].tolist()
            target.write(f"{json.dumps({QUERY[0]: row.item(), FOUND[0]: near})}\n".encode())

    write_stamped(file, write, stamp)


def parsed(file: Path) -> Iterator[tuple[int, int, list[int]]]:
    """Yield line number, row and near misses of each line. Raises UsageError."""
    try:
        for number, line in enumerate(lines_of(file), 1):
            yield number, *parsed_line(f"{file}, line {number}", line)
    except FileNotFoundError:
        raise UsageError(
            f"there is no {file}; make it: python examples/two_tower/mine_near_misses.py"
        ) from None
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from None


def parsed_line(place: str, line: bytes) -> tuple[int, list[int]]:
    """Return row and near misses of a line. Raises UsageError."""
    try:
        content = json.loads(line)
        (row,) = (content[name] for name in QUERY if name in content)
        (found,) = (content[name] for name in FOUND if name in content)
    except (ValueError, TypeError, RecursionError):
        found = row = None
    if type(row) is not int or not isinstance(found, list) or not all(type(one) is int for one in found):
        raise UsageError(f"{place}: must look like {json.dumps({QUERY[0]: 17, FOUND[0]: [203, 41]})}")
    if len(found) > MOST:
        raise UsageError(f"{place}: {len(found):,} near misses; more than {MOST:,} for a row are not read")
    return row, found


def read_near_misses(file: Path, pairs: Pairs, held_out: torch.Tensor) -> torch.Tensor:
    """Return the near misses of every row, (N, k), NONE after the last one. Raises UsageError.

    Rows of the own article and equal payloads are left out. Held-out rows raise an error, because training on
    them as negatives would leak them.
    """
    table: dict[int, list[int]] = {}
    for number, row, found in parsed(file):
        for one in (row, *found):
            if not 0 <= one < len(pairs):
                raise UsageError(f"{file}, line {number}: the data has {len(pairs)} rows, but no row {one}")
            if held_out[one]:
                raise UsageError(
                    f"{file}, line {number}: row {one} is held out in this run; train with the --seed and "
                    "--val-split of the run that it was mined for"
                )
        if row in table:
            raise UsageError(f"{file}, line {number}: row {row} has a line already; keep one of them")
        table[row] = found
    widest = max(map(len, table.values()), default=0)
    if 8 * len(pairs) * widest > max(UNPACKED, PACKED * file.stat().st_size):  # other rows are padded
        raise UsageError(f"{file}: one row has {widest} near misses, and most have none; cut it to fewer")
    rows = torch.full((len(pairs), max(widest, 1)), NONE)
    for row, found in table.items():
        rows[row, : len(found)] = torch.tensor(found, dtype=torch.int64)
    others = pairs.articles[rows.clamp(min=0)] != pairs.articles[:, None]
    others &= pairs.payload_ids[rows.clamp(min=0)] != pairs.payload_ids[:, None]
    return rows.where(others, NONE)
