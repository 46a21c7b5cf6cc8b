"""The numbers of bars, as vendors write them: plain, with thousands commas, with $, volumes like 1.5M."""

import re

import numpy
import pyarrow
import pyarrow.compute as compute
from pyarrow import types

from examples.indicator_transformer.bar_columns import NUMBERS, PRICES
from examples.indicator_transformer.bar_times import At
from snippets.errors import UsageError

LARGEST = 1e100  # sums and products of larger numbers may be infinite
NUMERIC = (types.is_integer, types.is_floating, types.is_decimal, types.is_null)
EMPTY = pyarrow.array(["", "null", "nan", "none", "na", "n/a", "#n/a", "-", "--"])
# One of these shows that a comma in another number cannot be a decimal comma.
POINTS = re.compile(r"\d,\d{3}[.,]\d|^\D?\d+\.(\d\d?|\d{4,})$")
GROUPED = r"^\d{1,3}(,\d{3})+(\.\d*)?$"
SCALES = {"k": "e3", "m": "e6", "b": "e9"}


def read_numbers(batch: pyarrow.RecordBatch, rows: numpy.ndarray, at: At) -> numpy.ndarray:
    """Return columns 1 to 5 of a part (rows, 5) in float64, in the order of NUMBERS; NaN for empty cells.

    `rows` are the positions in the file. Raises UsageError for a number that is text or not finite.
    """
    columns = [batch.column(place + 1) for place in range(len(NUMBERS))]
    values = numpy.empty((batch.num_rows, len(NUMBERS)))
    points: bool | None = None
    for place, (name, cells) in enumerate(zip(NUMBERS, columns, strict=True)):
        if not is_text(cells):
            values[:, place] = of_numbers(cells, name, rows, at)
            continue
        cells = without_empty(cells)
        try:
            values[:, place] = floats(cells)
        except pyarrow.ArrowInvalid:
            points = any(map(has_points, columns)) if points is None else points
            values[:, place] = of_texts(spelt_plainly(cells, name, points), cells, name, rows, at)
    wrong = numpy.argwhere(numpy.abs(values) > LARGEST)
    if len(wrong):
        row, place = wrong[0]
        raise not_finite(at(int(rows[row])), NUMBERS[place], values[row, place])
    return values


def is_text(cells: pyarrow.Array) -> bool:
    """Return whether a column holds texts."""
    return types.is_string(cells.type) or types.is_large_string(cells.type)


def floats(cells: pyarrow.Array) -> numpy.ndarray:
    """Return a column in float64, NaN for null. Raises ArrowInvalid."""
    return cells.cast(pyarrow.float64(), safe=False).to_numpy(zero_copy_only=False)


def of_numbers(cells: pyarrow.Array, name: str, rows: numpy.ndarray, at: At) -> numpy.ndarray:
    """Return a column of numbers in float64. Raises UsageError for a column of another kind."""
    if not any(fits(cells.type) for fits in NUMERIC):
        raise not_finite(at(int(rows[0])), name, cells[0].as_py())
    return floats(cells)


def without_empty(cells: pyarrow.Array) -> pyarrow.Array:
    """Return stripped texts, and null for those that stand for nothing."""
    cells = compute.utf8_trim_whitespace(cells)
    return compute.if_else(compute.is_in(compute.utf8_lower(cells), EMPTY), None, cells)


def has_points(cells: pyarrow.Array) -> bool:
    """Return whether a text of the column shows that the decimal mark is a point."""
    return is_text(cells) and any(POINTS.search(cell.strip()) for cell in cells.to_pylist() if cell)


def spelt_plainly(cells: pyarrow.Array, name: str, points: bool) -> pyarrow.Array:
    """Return texts without currency signs, thousands commas, and the letters of a volume like 1.5M.

    Commas stay unless there are decimal points in the file: 140,853 may be a price with a decimal comma.
    """
    cells = compute.replace_substring_regex(cells, r"^[$€£¥]\s*", "")
    if name not in PRICES:
        for letter, exponent in SCALES.items():
            cells = compute.replace_substring_regex(cells, rf"(?i)^([\d.,]*\d){letter}$", rf"\1{exponent}")
    if not points:
        return cells
    grouped = compute.match_substring_regex(cells, GROUPED)
    return compute.if_else(grouped, compute.replace_substring(cells, ",", ""), cells)


def of_texts(
    plain: pyarrow.Array, cells: pyarrow.Array, name: str, rows: numpy.ndarray, at: At
) -> numpy.ndarray:
    """Return plain numbers in float64. Raises UsageError with the text in `cells` that is none."""
    try:
        return floats(plain)
    except pyarrow.ArrowInvalid:
        for row, text in enumerate(plain.to_pylist()):
            if text is not None and not is_number(text):
                raise not_finite(at(int(rows[row])), name, cells[row].as_py()) from None
        raise


def is_number(cell: str) -> bool:
    """Return whether pyarrow reads a text as a number."""
    try:
        pyarrow.scalar(cell).cast(pyarrow.float64())
    except pyarrow.ArrowInvalid:
        return False
    return True


def not_finite(place: str, name: str, value: object) -> UsageError:
    """Return the error for a cell that is no finite number."""
    return UsageError(
        f"{place}: {name} is {value!s:.60}, not a finite number; "
        f"write numbers like 1234.5, at most {LARGEST:g}, or remove the row"
    )
