"""Read pickled arrays from untrusted files, without executing their code as `pickle.load` does."""

import io
import pickle
import pickletools
import re
from typing import Any

import numpy

LONGEST_KEY = 256  # letters or bytes
MOST_KEYS = 100  # of a dictionary: keys can be chosen so that each is compared with all others


# --8<-- [start:restricted_unpickler]
class NumberFormat:
    """Replaces `numpy.dtype`: a format of plain numbers and its byte order, or None for objects.

    NumPy's own class accepts any state from a pickle. A state with wrong sizes, or with bytes declared as
    pointers, makes the process read and write memory outside the array.
    """

    __slots__ = ("dtype",)
    dtype: numpy.dtype | None

    def __init__(self, name: str | bytes, align: object = None, copy: object = None) -> None:
        text = name.decode("ascii") if isinstance(name, bytes) else name
        if text == "O8":
            self.dtype = None
            return
        if not isinstance(text, str) or not re.fullmatch("b1|[iu][1248]|f[248]", text):
            raise pickle.UnpicklingError("a format that is no plain number")
        self.dtype = numpy.dtype(text)

    def __setstate__(self, state: tuple) -> None:
        if self.dtype is None:
            return  # no state of an object format is used
        _, order, *rest = state
        order = order.decode("ascii") if isinstance(order, bytes) else order
        if order not in ("<", ">", "|", "=") or rest != [None, None, None, -1, -1, 0]:
            raise pickle.UnpicklingError("a format with fields, pointers or sizes of its own")
        self.dtype = self.dtype.newbyteorder(order)


class PlainArray:
    """Replaces NumPy's functions that make an array; `values` are built here, from checked parts.

    The only arrays of objects are those without axes, in which numpy.save stores a dictionary.
    """

    __slots__ = ("values",)
    values: Any

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
    """Replace NumPy's function that makes a single number; return a Python number."""
    return PlainArray(content, number_format, (), "C").values.item()


def latin1_bytes(text: str, encoding: str) -> bytes:
    """Replace `_codecs.encode`, with which protocol 2 of Python 3 stores bytes, always as latin1."""
    if encoding != "latin1":
        raise pickle.UnpicklingError("bytes in another encoding than latin1")
    return text.encode("latin1")


class PlainDict(dict):
    """A dictionary with few, simple keys, since nested keys or equal hashes can make lookups take days."""

    def __setitem__(self, key: Any, value: Any) -> None:
        for part in key if type(key) is tuple and len(key) == 2 else (key,):
            short = type(part) in (str, bytes) and len(part) <= LONGEST_KEY
            if not short and type(part) not in (int, float):
                raise pickle.UnpicklingError("a key that is no number, no pair of numbers and no short text")
        if len(self) == MOST_KEYS:
            raise pickle.UnpicklingError(f"a dictionary with more than {MOST_KEYS} keys")
        super().__setitem__(key, value)


class ArrayUnpickler(pickle._Unpickler):  # in Python: methods of the C class cannot be replaced
    """Reads numbers, texts, lists, dictionaries and arrays of plain numbers, and rejects everything else.

    A pickle can only call what `find_class` returns, so it can use only the functions listed here. Its
    numbers can still be wrong.
    """

    OPERATIONS = frozenset(
        "PROTO FRAME STOP MARK NONE NEWTRUE NEWFALSE BININT BININT1 BININT2 LONG1 "  # noqa: SIM905 - shorter
        "BINFLOAT BINSTRING SHORT_BINSTRING BINBYTES SHORT_BINBYTES BINBYTES8 BYTEARRAY8 BINUNICODE "
        "SHORT_BINUNICODE BINUNICODE8 EMPTY_TUPLE TUPLE TUPLE1 TUPLE2 TUPLE3 EMPTY_LIST APPEND APPENDS "
        "EMPTY_DICT SETITEM SETITEMS GLOBAL STACK_GLOBAL REDUCE BUILD BINPUT LONG_BINPUT MEMOIZE BINGET "
        "LONG_BINGET".split()
    )
    MOST = 1_000_000  # operations; CIFAR-100 takes a quarter of them
    ALLOWED = {  # noqa: RUF012 - never changed
        ("numpy", "ndarray"): None,  # only an argument, never called
        ("numpy", "dtype"): NumberFormat,
        ("numpy.core.multiarray", "_reconstruct"): PlainArray,  # NumPy 1, and files from Python 2
        ("numpy._core.multiarray", "_reconstruct"): PlainArray,
        ("numpy.core.numeric", "_frombuffer"): PlainArray,  # protocol 5
        ("numpy._core.numeric", "_frombuffer"): PlainArray,
        ("numpy.core.multiarray", "scalar"): plain_scalar,
        ("numpy._core.multiarray", "scalar"): plain_scalar,
        ("_codecs", "encode"): latin1_bytes,
    }

    stack: list[Any]

    def __init__(self, content: bytes) -> None:
        super().__init__(io.BytesIO(content), encoding="bytes")
        self.content, self.left = content, 2 * len(content)  # bytes left for calls: text, then its bytes

    def load(self) -> Any:
        """Return the object. Raises UnpicklingError, and ValueError when a length exceeds the file."""
        for number, (operation, *_) in enumerate(pickletools.genops(self.content)):
            if operation.name not in self.OPERATIONS:
                raise pickle.UnpicklingError(f"the operation {operation.name}, which no array needs")
            if number == self.MOST:
                raise pickle.UnpicklingError(f"more than {self.MOST:,} operations")
        return super().load()

    def find_class(self, module: str, name: str) -> Any:
        """Return the replacement of a function or class that the file names. Raises UnpicklingError."""
        if (module, name) not in self.ALLOWED:
            raise pickle.UnpicklingError(f"it wants to use {module}.{name}, which no array needs")
        return self.ALLOWED[module, name]

    def check_call(self, function: Any, arguments: Any, allowed: tuple) -> None:
        """Raise UnpicklingError unless `function` is a replacement with few arguments, each used once."""
        if function not in allowed or type(arguments) is not tuple or len(arguments) > 8:
            raise pickle.UnpicklingError("a call that no array needs")
        self.left -= sum(len(part) for part in arguments if isinstance(part, str | bytes | bytearray))
        if self.left < 0:
            raise pickle.UnpicklingError("the same bytes again and again")

    def load_reduce(self) -> None:
        """Call a function or class after checking it. Raises UnpicklingError."""
        self.check_call(self.stack[-2], self.stack[-1], tuple(self.ALLOWED.values()))
        super().load_reduce()  # type: ignore[misc]  # exists, but typeshed leaves it out

    def load_build(self) -> None:
        """Set the state of an object, but not of a function, where it would persist for the next file."""
        self.check_call(type(self.stack[-2]), self.stack[-1], (PlainArray, NumberFormat))
        super().load_build()  # type: ignore[misc]  # likewise

    dispatch = pickle._Unpickler.dispatch | {
        pickle.REDUCE[0]: load_reduce,
        pickle.BUILD[0]: load_build,
        pickle.EMPTY_DICT[0]: lambda self: self.append(PlainDict()),
    }


def read_pickled_arrays(content: bytes) -> Any:
    """Return the object pickled in `content`; strings of Python 2 become bytes, arrays are read-only.

    Raises UnpicklingError for a forbidden global, and nearly any exception for a damaged pickle.
    """
    return with_arrays(ArrayUnpickler(content).load(), {})


def with_arrays(value: Any, done: dict[int, Any]) -> Any:
    """Return `value` with each PlainArray replaced by its array, also in lists, tuples and dictionaries.

    `done` holds earlier results by `id`, because a file can refer to one list a huge number of times.
    """
    if id(value) not in done:
        found = value
        if isinstance(value, PlainArray):
            found = with_arrays(value.values, done)  # an array of objects may contain others
        elif isinstance(value, dict):
            found = {key: with_arrays(part, done) for key, part in value.items()}
        elif isinstance(value, list | tuple):
            found = type(value)(with_arrays(part, done) for part in value)
        done[id(value)] = found
    return done[id(value)]


# --8<-- [end:restricted_unpickler]
