"""Make float64 of a column of prices or volumes."""

import numpy
import pandas
import pyarrow

from examples.indicator_transformer.bar_files import BarFile
from snippets.errors import UsageError


def read_numbers(file: BarFile, name: str) -> numpy.ndarray:
    """Return column `name` as float64 (bars,), NaN where a cell is empty. Text of digits is a number too.

    Raises UsageError, naming the first row, for other text.
    """
    column = file.column(name)
    is_type = pyarrow.types
    if is_type.is_integer(column.type) or is_type.is_floating(column.type) or is_type.is_decimal(column.type):
        return column.cast(pyarrow.float64(), safe=False).to_numpy()
    try:
        text = column.cast(pyarrow.string()).to_pandas()
    except pyarrow.ArrowException:
        raise UsageError(f"{file.path}: {name} holds {column.type}, not numbers") from None
    numbers = pandas.to_numeric(text, errors="coerce").to_numpy(numpy.float64, na_value=numpy.nan)
    wrong = numpy.isnan(numbers) & text.notna().to_numpy()
    if wrong.any():
        position = int(wrong.argmax())
        raise UsageError(
            f"{file.at(position)}: {name} is {text[position]!r}, which is not a number; "
            "write numbers like 1234.5, without thousands separators"
        )
    return numbers
