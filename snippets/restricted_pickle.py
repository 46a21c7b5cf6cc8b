"""Read pickled arrays from strangers: `pickle.load` executes whatever a file asks for, this does not."""

import io
import pickle
import re
from typing import Any

import numpy


# --8<-- [start:restricted_unpickler]
class NumberFormat:
    """Stands in for `numpy.dtype`: a format of plain numbers and its byte order, or None for objects.

    NumPy's own class takes any state from a pickle. One that lies about sizes or calls bytes pointers makes
    the process read and write memory that is not the array's.
    """

    __slots__ = ("dtype",)

    def __init__(self, name: str | bytes, align: object = None, copy: object = None) -> None:
        text = name.decode("ascii") if isinstance(name, bytes) else name
        if text == "O8":
            self.dtype = None
            return
        if not isinstance(text, str) or not re.fullmatch("b1|[iu][1248]|f[248]", text):
            raise pickle.UnpicklingError(f"a format that is no plain number: {name!r:.40}")
        self.dtype = numpy.dtype(text)

    def __setstate__(self, state: tuple) -> None:
        if self.dtype is None:
            return  # nothing that the file says about objects is used
        _, order, *rest = state
        order = order.decode("ascii") if isinstance(order, bytes) else order
        if order not in ("<", ">", "|", "=") or rest != [None, None, None, -1, -1, 0]:
            raise pickle.UnpicklingError("a format with fields, pointers or sizes of its own")
        self.dtype = self.dtype.newbyteorder(order)


class PlainArray:
    """Stands in for NumPy's functions that make an array; `values` are made here, from checked parts.

    Of arrays of objects there is one kind: numpy.save puts a dictionary into an array without axes.
    """

    __slots__ = ("values",)

    def __init__(self, *arguments: Any) -> None:
        if isinstance(arguments[0], bytes | bytearray):  # protocol 5: bytes, format, shape, order
            self.fill(*arguments[:4])

    def __setstate__(self, state: tuple) -> None:
        _, shape, number_format, fortran, content = state
        self.fill(content, number_format, shape, "F" if fortran else "C")

    def fill(self, content: bytes, number_format: NumberFormat, shape: tuple, order: str) -> None:
        if type(number_format) is not NumberFormat:
            raise pickle.UnpicklingError("an array without a format")
        if number_format.dtype is None and shape == () and type(content) is list and len(content) == 1:
            self.values = content[0]
        elif number_format.dtype is None or not isinstance(content, bytes | bytearray):
            raise pickle.UnpicklingError("an array of something else than plain numbers")
        else:
            self.values = numpy.frombuffer(content, number_format.dtype).reshape(shape, order=order)


def plain_scalar(number_format: NumberFormat, content: bytes) -> float:
    """Stand in for NumPy's function that makes a single number; return Python's own."""
    return PlainArray(content, number_format, (), "C").values.item()


def latin1_bytes(text: str, encoding: str) -> bytes:
    """Stand in for `_codecs.encode`, by which protocol 2 of Python 3 stores bytes, always as latin1."""
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"bytes in encoding {encoding!r}")
    return text.encode("latin1")


class ArrayUnpickler(pickle._Unpickler):  # in Python: the one in C reserves what a few bytes ask for
    """Reads numbers, texts, lists, dictionaries and arrays of plain numbers, and refuses everything else.

    A pickle can only call what `find_class` returns, so this list of our own is all that it can use.
    What it cannot be kept from is holding wrong numbers.
    """

    ALLOWED = {  # noqa: RUF012 - never changed
        ("numpy", "ndarray"): None,  # only named, as an argument
        ("numpy", "dtype"): NumberFormat,
        ("numpy.core.multiarray", "_reconstruct"): PlainArray,  # NumPy 1, and files from Python 2
        ("numpy._core.multiarray", "_reconstruct"): PlainArray,
        ("numpy.core.numeric", "_frombuffer"): PlainArray,  # protocol 5
        ("numpy._core.numeric", "_frombuffer"): PlainArray,
        ("numpy.core.multiarray", "scalar"): plain_scalar,
        ("numpy._core.multiarray", "scalar"): plain_scalar,
        ("_codecs", "encode"): latin1_bytes,
    }

    def find_class(self, module: str, name: str) -> Any:
        """Return what stands in for the function or class that the file names. Raises UnpicklingError."""
        if (module, name) not in self.ALLOWED:
            raise pickle.UnpicklingError(f"it wants to use {module}.{name}, which no array needs")
        return self.ALLOWED[module, name]


def read_pickled_arrays(content: bytes) -> Any:
    """Return the object pickled in `content`; strings of Python 2 become bytes, arrays are read-only.

    Raises UnpicklingError for a forbidden global, and almost any exception for a damaged pickle.
    """
    return with_arrays(ArrayUnpickler(io.BytesIO(content), encoding="bytes").load())


def with_arrays(value: Any) -> Any:
    """Return `value` with NumPy arrays for their stand-ins, in lists, tuples and dictionaries, too."""
    if isinstance(value, PlainArray):
        return with_arrays(value.values)  # an object may hold further ones
    if isinstance(value, dict):
        return {key: with_arrays(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(with_arrays, value))
    return value


# --8<-- [end:restricted_unpickler]
