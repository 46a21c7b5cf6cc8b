"""Tables beside pictures, or in place of them: pixels as columns, or the classes of pictures.

Both are refused, because classes are read from folders; the cure depends on which of them it is.
"""

from pathlib import Path

from snippets.foreign_files import lines_of

ENDINGS = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
MANY = 64  # columns: those of 8 × 8 pixels
ARRAYS = "x_train (count, height, width), y_train (count,), x_test and y_test, all uint8"


def is_table(path: Path) -> bool:
    """Return whether the name of a file ends like that of a table."""
    return path.name.lower().endswith(ENDINGS)


def columns_of(path: Path) -> int:
    """Return the number of columns in the first line; 0 for a file that cannot be read."""
    try:
        first = next(lines_of(path), b"")
    except OSError:
        return 0
    return 1 + max(first.count(separator) for separator in (b",", b"\t", b";"))


def cure_for(table: Path, pictures: Path, named: Path) -> str:
    """Return what is in a table and what to do: move pictures into folders in `pictures` and name `named`."""
    if (columns := columns_of(table)) >= MANY:
        what = f"{table} is a table of {columns:,} columns, of pixels as it seems"
        return f"{what}; write them with numpy.savez as {ARRAYS}, and name the .npz file"
    what = f"classes are read from folders, not from {table}"
    return f"{what}; move each picture into a folder of its class ({pictures / 'CLASS'}), and name {named}"


def table_of_labels(folder: Path) -> Path | None:
    """Return the table in `folder` that has the classes, by its name, or any other."""
    found = [path for path in folder.iterdir() if is_table(path) or "annotation" in path.name.lower()]
    return min(
        found, key=lambda path: ("label" not in path.name, "train" not in path.name, path), default=None
    )
