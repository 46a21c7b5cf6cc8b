"""Pickles are read without executing them."""

import os
import pickle
import time
import tracemalloc

import numpy
import pytest

from snippets.restricted_pickle import ArrayUnpickler, read_pickled_arrays

ARRAY = numpy.arange(12, dtype=numpy.uint8).reshape(3, 4)


@pytest.mark.parametrize("name", ["?", "<i2", ">i4", ">f8", "<u8", "<f2"])
@pytest.mark.parametrize("protocol", [2, 5])
def test_formats_orders_and_shapes(protocol, name):
    """Also in byte orders that are not this machine's, and laid out by columns."""
    for array in (ARRAY.astype(name), numpy.asfortranarray(ARRAY.astype(name)), numpy.array(3).astype(name)):
        (found,) = read_pickled_arrays(pickle.dumps([array], protocol))
        assert found.dtype == array.dtype
        assert numpy.array_equal(found, array)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_arrays_of_every_protocol(protocol):
    content = pickle.dumps({b"data": ARRAY, b"labels": [1, 2, 3], b"name": b"\xff batch"}, protocol)
    value = read_pickled_arrays(content)
    assert value[b"labels"] == [1, 2, 3]
    assert value[b"name"] == b"\xff batch"
    assert value[b"data"].dtype == numpy.uint8
    assert numpy.array_equal(value[b"data"], ARRAY)


class Command:
    """Runs a function when unpickled."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


def test_a_malicious_pickle_does_not_execute(tmp_path):
    trace = tmp_path / "executed"
    content = pickle.dumps({b"data": Command(os.mkdir, str(trace))})
    with pytest.raises(pickle.UnpicklingError, match=r"it wants to use posix\.mkdir"):
        read_pickled_arrays(content)
    assert not trace.exists()
    pickle.loads(content)
    assert trace.exists()  # the same bytes do execute in pickle.load


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (eval, ("1 + 1",)),
        (getattr, (numpy, "load")),
        (numpy.load, ("/etc/passwd",)),
        (numpy.fromfile, ("/etc/passwd",)),
        (bytes.fromhex, ("00",)),
    ],
)
def test_other_functions_are_refused(function, arguments):
    try:
        content = pickle.dumps(Command(function, *arguments))
    except Exception:  # modules cannot be pickled: name the function by hand
        content = b"cbuiltins\n" + function.__name__.encode() + b"\n."
    with pytest.raises(pickle.UnpicklingError, match="it wants to use"):
        read_pickled_arrays(content)


def test_only_latin1_bytes():
    content = b"c_codecs\nencode\n(X\x01\x00\x00\x00aX\x04\x00\x00\x00zliptR."
    with pytest.raises(pickle.UnpicklingError, match="bytes in another encoding"):
        read_pickled_arrays(content)


def crafted(dtype: bytes, state: tuple, content: bytes = bytes(24), shape: tuple = (3,)) -> bytes:
    """Return the pickle of an array as NumPy writes them, with any format, state and content."""

    class Format:
        def __reduce__(self):
            return (numpy.dtype, (dtype.decode(), False, True), state)

    class Array:
        def __reduce__(self):
            make = numpy.ndarray.__reduce__(ARRAY)[0]
            return (make, (numpy.ndarray, (0,), b"b"), (1, shape, Format(), False, content))

    return pickle.dumps({b"data": Array()}, 2)


PLAIN = (3, "<", None, None, None, -1, -1, 0)
OBJECTS = (3, "|", None, None, None, -1, -1, 63)


def test_correct_crafted_pickle_is_an_array():
    content = crafted(b"i8", PLAIN, numpy.arange(3).tobytes())
    assert pickle.loads(content)[b"data"].tolist() == [0, 1, 2]
    assert read_pickled_arrays(content)[b"data"].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("dtype", "state", "content", "shape"),
    [
        (b"O8", (3, "|", None, None, None, -1, -1, 63), bytes(24), (3,)),
        (
            b"O8",
            (3, "|", None, None, None, -1, -1, 0),
            b"f" * 24,
            (3,),
        ),  # bytes as pointers: a crash in NumPy
        (b"V8", (3, "|", None, ("x",), {"x": (numpy.dtype("u1"), 4096)}, 8, 1, 0), bytes(24), (3,)),
        (b"i8", (3, "<", None, None, None, 1, 1, 0), bytes(24), (3,)),
        (b"i8", (3, "<", None, None, None, -1, -1, 27), bytes(24), (3,)),
        (b"i8", (3, "<", (numpy.dtype("u1"), (9,)), None, None, -1, -1, 0), bytes(24), (3,)),
        (b"i8", (4, "x", None, None, None, -1, -1, 0), bytes(24), (3,)),
        (b"i8", (), bytes(24), (3,)),
        (b"U4", (3, "<", None, None, None, 16, 4, 8), bytes(48), (3,)),
        (b"i8,O", PLAIN, bytes(24), (3,)),
        (b"i8", PLAIN, bytes(24), (4,)),
        (b"i8", PLAIN, bytes(24), (2**62, 4)),
        (b"i8", PLAIN, bytes(24), ("a",)),
        (b"i8", PLAIN, [1, 2, 3], (3,)),
        (b"i8", PLAIN, "text", (3,)),
        (b"O8", PLAIN, [1, 2, 3], (3,)),
        (b"O8", PLAIN, [1], (1,)),
        (b"O8", PLAIN, [1, 2], ()),
        (b"O8", PLAIN, bytes(8), ()),
        (b"O8", PLAIN, (1,), ()),
    ],
)
def test_no_state_from_a_file_reaches_numpy(dtype, state, content, shape):
    """Each of these gives NumPy's own classes something that they trust; some end the process."""
    with pytest.raises((pickle.UnpicklingError, ValueError, TypeError)):
        read_pickled_arrays(crafted(dtype, state, content, shape))


@pytest.mark.parametrize("state", [OBJECTS, PLAIN, (), (3, "<", (numpy.dtype("u1"), (9,)), 1, 2, 7, 1, 0)])
def test_object_array_ignores_the_files_format(state):
    content = crafted(b"O8", state, [{"x": ARRAY}], ())
    assert numpy.array_equal(read_pickled_arrays(content)[b"data"]["x"], ARRAY)


@pytest.mark.parametrize("module", ["numpy._core.multiarray", "numpy.core.multiarray"])
def test_single_numbers_become_those_of_python(module):
    numbers = [numpy.float64(0.5), numpy.uint8(7), numpy.int64(-(2**40)), numpy.bool_(True), numpy.float32(2)]
    content = pickle.dumps({tuple(numbers[:2]): numbers}, 2)
    name = b"c" + type(ARRAY).__reduce__(ARRAY)[0].__module__.encode()
    found = read_pickled_arrays(content.replace(name, b"c" + module.encode()))
    assert found == {(0.5, 7): [0.5, 7, -(2**40), True, 2.0]}
    assert [type(number) for number in found.popitem()[1]] == [float, int, int, bool, float]


@pytest.mark.parametrize("content", [b"\0" * 7, b"\0" * 9, "text", [1.5], ()])
def test_single_number_of_wrong_size_is_refused(content):
    class Number:
        def __reduce__(self):
            return (numpy.float64(1).__reduce__()[0], (numpy.dtype("f8"), content))

    with pytest.raises((pickle.UnpicklingError, ValueError, AttributeError)):
        read_pickled_arrays(pickle.dumps(Number()))


@pytest.mark.parametrize(("module", "name"), [key for key, made in ArrayUnpickler.ALLOWED.items() if made])
def test_a_file_cannot_change_what_reads_the_next_one(module, name):
    """`BUILD` sets attributes of what lies on the stack, and that may be one of our own classes."""
    state = pickle.dumps((None, {"__new__": 1, "__setstate__": 1, "__code__": 1}), 2).removesuffix(b".")
    with pytest.raises(pickle.UnpicklingError, match="a call that no array needs"):
        read_pickled_arrays(f"c{module}\n{name}\n".encode() + state + b"b.")
    for protocol in (2, 5):
        content = pickle.dumps([ARRAY, numpy.float64(1), b"\xff"], protocol)
        array, *others = read_pickled_arrays(content)
        assert numpy.array_equal(array, ARRAY) and others == [1, b"\xff"]


M = 2**61 - 1  # of Python's hash: n and n + M have the same
ENCODE, ARRAY_TYPE = b"c_codecs\nencode\n", b"cnumpy.core.multiarray\n_reconstruct\n"
TEXT = (
    b"X" + (100_000).to_bytes(4, "little") + b"x" * 100_000 + b"\x8c\x06latin1\x86\x94"
)  # and latin1, a pair


def nested(levels, join=lambda value: [value, value]):
    """Return a value that holds one number 2 ** levels times, and the number itself once."""
    value = (1,)
    for _ in range(levels):
        value = join(value)
    return value


def keys(values):
    """Return a pickle of a dictionary with these keys, which Python cannot be asked to make in time."""
    return b"".join(pickle.dumps(value, 2)[2:-1] + b"N" for value in values)


BOMBS = {
    "list in lists": (pickle.dumps({"k": nested(100)}), None),
    "tuple in tuples": (pickle.dumps([nested(100, lambda value: (value, value))]), None),
    "bytes that are not there": (b"\x80\x05\x96" + (7 << 30).to_bytes(8, "little") + b".", "expected 75"),
    "bytes of 2 ** 63": (b"\x80\x05\x96" + bytes(7) + b"\x80.", "bytearray8"),
    "a text that is not there": (b"\x80\x05\x8d" + (7 << 30).to_bytes(8, "little") + b".", "expected 75"),
    "keys with one hash": (b"\x80\x02}(" + keys(n * M for n in range(6_000)) + b"u.", "more than 100 keys"),
    "a tuple of tuples as key": (
        pickle.dumps({(nested(2, lambda value: (value, value)), 1): 1}),
        "a key that is no number",
    ),
    "a long key": (pickle.dumps({"x" * 257: 1}), "a key that is no number"),
    "a pair of long keys": (pickle.dumps({(b"x" * 257, 1): 1}), "a key that is no number"),
    "calls of one text": (ENCODE + b"\x94" + TEXT + b"R(" + b"h\0h\1R" * 500 + b"t.", "again and again"),
    "a call of a million": (ARRAY_TYPE + b"(" + b"K\1" * 9 + b"tR.", "a call that no array needs"),
    "a call of a list": (ENCODE + b"](K\1eR.", "a call that no array needs"),
    "attributes of a function": (ENCODE + b"N}\x8c\x04evilK\1s\x86b.", "a call that no array needs"),
    "a state of a list": (ARRAY_TYPE + b")\x81](K\1eb.", "the operation NEWOBJ"),
    "too many operations": (b"(" + b"N" * 20_000 + b"t.", "more than 20,000 operations"),
    "a number in letters": (b"I" + b"9" * 1_000_000 + b"\n.", "Exceeds the limit|operation INT"),
    "a long number": (b"\x8b" + (1000).to_bytes(4, "little") + b"\1" * 1000 + b".", "operation LONG4"),
    "copies": (b"]" + b"2" * 1000 + b".", "the operation DUP"),
    "a set": (pickle.dumps({1, 2}), "the operation EMPTY_SET"),
    "depth": (b"]" * 9_000 + b"a" * 8_999 + b".", "recursion"),
    "itself": (b"]\x94h\0a.", "recursion"),
    "a format of lists": (
        b"cnumpy\ndtype\n(" + pickle.dumps(nested(100), 2)[2:-1] + b"tR.",
        "a format that is no plain number",
    ),
}


@pytest.mark.parametrize(("content", "message"), BOMBS.values(), ids=BOMBS.keys())
def test_few_bytes_take_neither_time_nor_memory(content, message, monkeypatch):
    """The plain reader takes years or gigabytes for some of these; others leave something behind."""
    monkeypatch.setattr(ArrayUnpickler, "MOST", 20_000)
    started = time.process_time()
    tracemalloc.start()
    try:
        if message is None:
            assert read_pickled_arrays(content)
        else:
            with pytest.raises(Exception, match=message):
                read_pickled_arrays(content)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 10_000_000
    assert time.process_time() - started < 10


@pytest.mark.slow
def test_mutated_pickle_gives_an_array_or_an_error():
    """Ten thousand mutations; what is read is made of plain numbers, and the process lives."""
    random = numpy.random.default_rng(0)
    whole = crafted(b"u1", (3, "|", None, None, None, -1, -1, 0), bytes(24), (24,))
    read = 0
    for _ in range(10_000):
        content = bytearray(whole)
        for place in random.integers(0, len(content), random.integers(1, 4)):
            content[place] = random.integers(0, 256)
        try:
            value = read_pickled_arrays(bytes(content))
        except Exception:
            continue
        read += 1
        for part in value.values() if isinstance(value, dict) else [value]:
            if isinstance(part, numpy.ndarray):
                assert part.dtype.kind in "biuf"
                part.sum()
    assert 100 < read < 10_000


def test_an_array_has_a_format():
    class Array:
        def __reduce__(self):
            make = numpy.ndarray.__reduce__(ARRAY)[0]
            return (make, (numpy.ndarray, (0,), b"b"), (1, (3,), "i8", False, bytes(24)))

    with pytest.raises(pickle.UnpicklingError, match="an array without a format"):
        read_pickled_arrays(pickle.dumps(Array(), 2))
