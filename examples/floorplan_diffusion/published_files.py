"""Read plans as published for GSDiff: each is a .npy file with a Python dictionary pickled by numpy.save.

Unpickling a file with NumPy can execute code in it. Here it is read without executing code.
"""

from pathlib import Path
from typing import Any

import numpy

from examples.floorplan_diffusion.plan_files import SPLITS
from examples.floorplan_diffusion.plans import MOST_CORNERS, Plan
from examples.programs.array_files import HEAD, read_head
from snippets import foreign_files
from snippets.errors import UsageError, one_line
from snippets.restricted_pickle import read_pickled_arrays

ROWS = "corner_list_np_normalized_padding_withsemantics"  # of each corner: x, y and 14 counts
SEVEN = ((2, 6, 12), (3, 7, 8, 9, 10), (13, 14), (4,), (5,), (11,), (15,))  # columns of each of our KINDS
LARGEST = 1 << 24  # bytes; published files have 200,000
MOST, PAIRS = MOST_CORNERS, MOST_CORNERS**2
ARRAYS = {  # "n" is the number of corners
    "corners_np": (("n", 2), "float64"),
    "corner_list_np_normalized": (("n", 2), "float64"),
    "adjacency_matrix_np": (("n", "n"), "uint8"),
    "adjacency_list_np": (("n", 4), "uint8"),
    "corner_list_np_normalized_padding": ((MOST, 2), "float64"),
    "padding_mask": ((MOST, 1), "uint8"),
    "global_matrix_np_padding": ((MOST, MOST), "uint8"),
    "adjacency_matrix_np_padding": ((MOST, MOST), "uint8"),
    "edge_coords": ((PAIRS, 4), "float64"),
    "edges": ((PAIRS, 1), "uint8"),
    ROWS: ((MOST, 16), "float64"),
}
OTHERS = {
    "file_id": int,
    "corners": list,
    "adjacency_matrix": list,
    "adjacency_list": list,
    "semantics": dict,
}


def find_files(path: Path) -> dict[str, list[Path]]:
    """Return the files of each split, from the folders train, val and test. Raises UsageError.

    Files in one folder are split: a tenth is for validation, a tenth for testing. One file is in all splits.
    """
    if path.is_file():
        return {split: [path] for split in SPLITS}
    if not path.is_dir():
        raise UsageError(f"{path} is neither a folder nor a file")
    if (path / SPLITS[0]).is_dir():
        found = {split: npy_files(path / split) for split in SPLITS}
        for split, files in found.items():
            if not files:
                raise UsageError(f"{path / split} has no .npy files")
        return found
    files = npy_files(path)
    if len(files) < len(SPLITS):
        raise UsageError(f"{path} has {len(files)} .npy files and no folder train; it takes three or more")
    numpy.random.default_rng(0).shuffle(files)
    tenth = max(1, len(files) // 10)
    return {"train": files[2 * tenth :], "val": files[:tenth], "test": files[tenth : 2 * tenth]}


def npy_files(folder: Path) -> list[Path]:
    """Return the .npy files in a folder, without the hidden ones that macOS leaves on other disks."""
    return sorted(file for file in folder.glob("*.npy") if not file.name.startswith("."))


def read_entry(path: Path) -> dict:
    """Return the dictionary in a file, without executing code. Raises ValueError with the reason."""
    content = read_bytes(path)
    start = check_header(content[:HEAD])
    try:
        entry = read_pickled_arrays(content[start:])
    except Exception as error:  # a damaged pickle can raise any error
        raise ValueError(f"no whole pickle of plain values: {in_words(error)}") from None
    if not isinstance(entry, dict):
        raise ValueError(f"it holds a {type(entry).__name__}, not a dictionary")
    return entry


def read_bytes(path: Path, head: bool = False) -> bytes:
    """Return the content of a file, or with `head` only its beginning. Raises ValueError."""
    try:
        if not head:
            return foreign_files.read_bytes(path, LARGEST)
        with foreign_files.open_regular(path) as file:
            return file.read(HEAD)
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror}") from None


def check_header(content: bytes) -> int:
    """Return the offset of the pickle in a file with one object. Raises ValueError."""
    try:
        head = read_head(content)
    except Exception as error:  # the header is a Python expression
        raise ValueError(f"no .npy file: {in_words(error)}") from None
    if head.shape != () or head.dtype.kind != "O":
        raise ValueError(f"it holds numbers ({head.dtype}, shape {head.shape}), not one dictionary")
    return head.length


def in_words(error: Exception) -> str:
    """Return the first line of an error message, shortened if long."""
    return one_line(str(error).partition("\n")[0] or type(error).__name__, most=200)


def problems(entry: dict) -> list[str]:
    """Return the keys, shapes and types in which a dictionary differs from the published format."""
    found = [f"no {key}" for key in (*ARRAYS, *OTHERS) if key not in entry]
    corners = len(entry["corners"]) if isinstance(entry.get("corners"), list) else "n"
    for key, (shape, kind) in ARRAYS.items():
        value = entry.get(key)
        wanted = tuple(corners if size == "n" else size for size in shape)
        if key in entry and not (isinstance(value, numpy.ndarray) and has(value, wanted, kind)):
            found.append(f"{key} is {described(value)}, not {kind} {wanted}")
    for key, known in OTHERS.items():
        if key in entry and type(entry[key]) is not known:
            found.append(f"{key} is {described(entry[key])}, not {known.__name__}")
    return found


def has(array: numpy.ndarray, shape: tuple, kind: str) -> bool:
    """Return whether an array has this type and shape; a name in `shape` stands for any size."""
    fits = array.ndim == len(shape) and all(
        isinstance(known, str) or size == known for size, known in zip(array.shape, shape, strict=True)
    )
    return fits and array.dtype == kind


def described(value: Any) -> str:
    """Return a short description of a value."""
    return f"{value.dtype} {value.shape}" if isinstance(value, numpy.ndarray) else type(value).__name__


# --8<-- [start:plan_of_entry]
def plan_of_entry(entry: dict) -> Plan:
    """Return the plan in a published dictionary. Raises ValueError with the reason."""
    pixels = numbers(entry, "corners_np")
    count = len(pixels)
    if pixels.shape != (count, 2) or not 1 <= count <= MOST_CORNERS:
        raise ValueError(f"corners_np has shape {pixels.shape}, not 1 to {MOST_CORNERS} corners")
    corners = pixels.round()
    if corners.min() < 0 or corners.max() > 255:
        raise ValueError("a corner that is no pixel from 0 to 255")
    if len(numpy.unique(corners, axis=0)) < count:
        raise ValueError("two corners at one place")
    rows = numbers(entry, ROWS, (MOST_CORNERS, 16))[:count]
    if not numpy.allclose(rows[:, :2] * 128 + 128, pixels):
        raise ValueError(f"{ROWS} has other places than corners_np")
    kinds = numpy.stack([rows[:, columns].any(axis=1) for columns in map(list, SEVEN)], axis=1)
    walls = numbers(entry, "adjacency_matrix_np", (count, count))
    if (walls != walls.T).any() or walls.diagonal().any() or not numpy.isin(walls, (0, 1)).all():
        raise ValueError("adjacency_matrix_np is no symmetric matrix of 0 and 1 with a diagonal of 0")
    return Plan(corners, kinds, numpy.argwhere(numpy.triu(walls)))


# --8<-- [end:plan_of_entry]
def numbers(entry: dict, key: str, shape: tuple | None = None) -> numpy.ndarray:
    """Return an array of the entry as float64. Raises ValueError for another shape or NaN."""
    value = entry.get(key)
    if not isinstance(value, numpy.ndarray) or value.ndim != 2 or shape not in (None, value.shape):
        raise ValueError(f"{key} is {described(value)}, not an array {shape or '(corners, 2)'}")
    if not numpy.isfinite(value).all():
        raise ValueError(f"{key} holds NaN or infinity")
    return value.astype(numpy.float64)
