"""Releases are read in wheels: what stands in libraries and Python files, and a wrong range is noticed."""

import zipfile

import pytest

from tools import ranges
from tools.measuring import releases
from tools.measuring.wheel_texts import library_text, python_text, read_texts

LIST = "torchgen/packaged/ATen/native/native_functions.yaml"
OLD = "- func: eig(Tensor self) -> Tensor\n  dispatch:\n    CPU, CUDA: eig\n"
LIBRARY = b"\xcf\xfa\xed\xfe\0%s\0__ZN2at6nativeE\0PYTORCH_MPS_FAST_MATH\0"


def make_wheel(folder, version, python, library, operators):
    """Write a wheel of a PyTorch that has nothing but these contents."""
    path = folder / f"torch-{version}-cp312-none-macosx_11_0_arm64.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("torch/version.py", f"__version__ = '{version}'\ngit_version = 'c0ffee'\n")
        wheel.writestr("torch/module.py", python)
        wheel.writestr("torch/testing/old.py", "RuntimeError('gone since long')\n")
        wheel.writestr("torch/lib/libtorch_cpu.dylib", LIBRARY % library)
        wheel.writestr(LIST, operators)
    return path


@pytest.fixture
def readings(tmp_path):
    """Return what two small releases have."""
    new = "raise ValueError(f'{name} is not '\n                 'known here')\n"
    wheels = [
        make_wheel(tmp_path, "2.9.1", "# is not known here\n", b"Old MPS text of the backend", OLD),
        make_wheel(tmp_path, "2.10.0", new, b"New MPS text of the backend", OLD.replace("CPU,", "CPU, MPS,")),
    ]
    wanted = ["Old MPS text", "is not known here", "gone since long"]
    variables = ["PYTORCH_MPS_FAST_MATH", "PYTORCH_MPS_FAST"]
    return [releases.read(wheel, wanted, variables) for wheel in wheels], wanted, variables


def test_every_wheel_is_marked_for_texts_and_variables(readings):
    found = releases.document(*readings)
    assert found["wheels"] == {"2.9": "2.9.1", "2.10": "2.10.0"}
    assert found["texts"] == {"Old MPS text": "x.", "is not known here": ".x", "gone since long": ".."}
    assert found["variables"] == {"PYTORCH_MPS_FAST_MATH": "xx", "PYTORCH_MPS_FAST": ".."}, "whole names"


def test_what_the_newest_release_changed_is_printed(readings):
    lines = list(releases.changes(releases.document(*readings), readings[0]))
    assert lines == [
        "PyTorch 2.10.0 after 2.9.1",
        "gone (texts): Old MPS text",
        "new (texts): is not known here",
        "new and not in the data: New MPS text of the backend",
        "gained an MPS kernel: eig",
        "lost it: none",
    ]


def test_a_planted_wrong_range_is_noticed(readings):
    found = releases.document(*readings)
    planted = found | {"texts": found["texts"] | {"Old MPS text": "xx"}}
    assert list(releases.corrected(planted, found)) == [
        "wrong in ranges.json until now: Old MPS text (2.10.0)"
    ]
    assert not list(releases.corrected(found, found))


def test_literals_of_python_are_joined_and_comments_left_out():
    code = 'raise E("one "  # why\n    f"two {x} "\n  + "three \\"four\\"")\n  # "five"\n'
    assert python_text(code) == 'raise E("one two {x} three "four"")\n'


def test_libraries_have_strings_but_no_long_symbols():
    content = b"\0\1A message.\0__Z" + 80 * b"N" + b"\0\2short\0not ended by zero\1PYTORCH_A\0A message.\0"
    assert library_text(content) == "A message.\nPYTORCH_A"


def test_tests_of_pytorch_itself_do_not_count(tmp_path):
    wheel = make_wheel(tmp_path, "2.9.1", "", b"", OLD)
    assert "gone since long" not in read_texts(wheel)


def test_a_wheel_is_downloaded_once(tmp_path, monkeypatch):
    asked = []

    def pip(*arguments, chip, python):
        asked.append((arguments[-1], chip, python))
        make_wheel(tmp_path, "2.9.1", "", b"", OLD)
        return type("Done", (), {"returncode": 0})

    monkeypatch.setattr(releases.wheels, "pip", pip)
    wheel = releases.fetch("2.9.1", "3.12", tmp_path)
    assert wheel == releases.fetch("2.9.1", "3.12", tmp_path)
    assert wheel.is_file() and asked == [("torch==2.9.1", "arm64", "3.12")]


def test_a_failed_download_is_an_error(tmp_path, monkeypatch):
    failed = type("Failed", (), {"returncode": 1, "stderr": "no such version"})
    monkeypatch.setattr(releases.wheels, "pip", lambda *arguments, **options: failed)
    with pytest.raises(RuntimeError, match=r"torch==9\.9\.9: no such version"):
        releases.fetch("9.9.9", "3.12", tmp_path)


def test_ranges_in_words(monkeypatch):
    monkeypatch.setattr(ranges, "read", lambda: {"wheels": dict.fromkeys(["1.13", "2.0", "2.1", "2.2"], "")})
    assert ranges.words("xxxx", "en") == "PyTorch 1.13 to 2.2"
    assert ranges.words("x.xx", "zh") == "PyTorch 1.13、2.1 到 2.2"
    assert ranges.words(".x..", "en") == "PyTorch 2.0"
    assert ranges.words("....", "en") == ""


def test_literals_stand_for_the_texts_that_they_fit():
    search = ["Device {name} not supported", "on device ", "never"]
    assert ranges.literals("Error: Device mps not supported", search) == search[:1]
    assert ranges.literals("x.SomeError: on device mps", search) == ["on device "]
    assert ranges.literals("x.SomeError: something else", search) == ["something else"]
    assert ranges.stands_for("divisible.\n", "not divisible.") and not ranges.stands_for("a.\n", "a. More")


def test_a_wording_has_what_all_its_literals_have(monkeypatch):
    known = {"wheels": {}, "texts": {"one ": "xx.", " two": ".xx", "other": "..."}}
    monkeypatch.setattr(ranges, "read", lambda: known)
    message = {"id": "a", "text": "Error: one or two", "variants": ["other"], "search": ["one ", " two"]}
    monkeypatch.setattr(ranges, "not_in_wheels", dict)
    assert ranges.marks(message) == [".x.", ""]
    monkeypatch.setattr(ranges, "not_in_wheels", lambda: {"a": "why"})
    assert ranges.marks(message) == ["", ""]
