"""Read pickled arrays from strangers: `pickle.load` executes whatever a file asks for, this does not."""

import io
import pickle
from typing import Any

import numpy
from numpy._core.multiarray import _reconstruct
from numpy._core.numeric import _frombuffer


# --8<-- [start:restricted_unpickler]
def latin1_bytes(text: str, encoding: str) -> bytes:
    """Return `text` as bytes: how protocol 2 of Python 3 stores them, always as latin1."""
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"bytes in encoding {encoding!r}")
    return text.encode("latin1")


class ArrayUnpickler(pickle.Unpickler):
    """Reads numbers, strings, lists, dictionaries and NumPy arrays, and refuses everything else.

    A pickle can only call what `find_class` returns, so this short list is all that a file can do.
    """

    ALLOWED = {  # noqa: RUF012 - never changed
        ("numpy", "ndarray"): numpy.ndarray,
        ("numpy", "dtype"): numpy.dtype,
        ("numpy.core.multiarray", "_reconstruct"): _reconstruct,  # NumPy 1, and files from Python 2
        ("numpy._core.multiarray", "_reconstruct"): _reconstruct,
        ("numpy.core.numeric", "_frombuffer"): _frombuffer,  # protocol 5
        ("numpy._core.numeric", "_frombuffer"): _frombuffer,
        ("_codecs", "encode"): latin1_bytes,
    }

    def find_class(self, module: str, name: str) -> Any:
        """Return the function or class that the file names. Raises UnpicklingError for all but a few."""
        if (module, name) not in self.ALLOWED:
            raise pickle.UnpicklingError(f"it wants to use {module}.{name}, which no array needs")
        return self.ALLOWED[module, name]


def read_pickled_arrays(content: bytes) -> Any:
    """Return the object pickled in `content`; strings of Python 2 become bytes.

    Raises UnpicklingError for a forbidden global, and almost any exception for a damaged pickle.
    """
    return ArrayUnpickler(io.BytesIO(content), encoding="bytes").load()


# --8<-- [end:restricted_unpickler]
