"""Rules of the simulated device are compared with wheels; a wrong and a lifted one are noticed."""

import json

import pytest

from tools.measuring import device_rules
from tools.measuring.listed_failures import kind_of, read_lists
from tools.measuring.metal_kernels import kernel_names, types_with


def record(name):
    """Return what an archive of Metal kernels says of one."""
    return b"NAME" + (len(name) + 1).to_bytes(2, "little") + name.encode() + b"\0TYPE\1\0\2"


TEXT = {"operators": ["eig"], "text": "eig wants floats", "since": "2.10", "until": "2.10"}
KERNEL = {"operators": ["erf.out"], "kernel": "{operator}_{type}"}
LIBRARIES = {
    "2.9": b"\0eig wants more\0" + record("erf_float"),
    "2.10": b"\0eig wants floats\0" + record("erf_float") + record("erf_half"),
    "2.11": b"\0eig wants floats\0",
}


def found(*rules):
    """Return the lines about `rules`."""
    readings = {release: device_rules.read(library, rules) for release, library in LIBRARIES.items()}
    return list(device_rules.compare(rules, readings))


def test_names_of_kernels_are_read():
    assert kernel_names(b"x" + record("erf_float") + b"NAME\7\0other\0TYPE") == {"erf_float"}
    assert types_with("erf_{type}", {"erf_float", "erf_half", "erfc_int"}) == ["float", "half"]


def test_a_wrong_range_is_noticed():
    assert found(TEXT) == ["also in 2.11: eig: eig wants floats"]
    assert found({**TEXT, "shared": True}) == []
    assert found({**TEXT, "until": "2.11"}) == []
    wrong = "wrong in rules.json, not in 2.9: eig: eig wants floats"
    assert found({**TEXT, "since": "2.9", "until": "2.11"}) == [wrong]
    assert found({**TEXT, "text": "gone", "search": ["eig ", "floats"], "until": "2.11"}) == []


def test_another_rule_covers_the_other_releases():
    assert found(TEXT, {**TEXT, "since": "2.11", "until": "2.11"}) == []


def test_types_of_kernels_are_written(tmp_path):
    readings = {release: device_rules.read(library, [KERNEL]) for release, library in LIBRARIES.items()}
    device_rules.write(readings, tmp_path / "types.json")
    assert json.loads((tmp_path / "types.json").read_text()) == {
        "erf_{type}": {"2.9": "float", "2.10": "float half"}
    }


def test_the_written_table_has_every_kernel_of_the_rules():
    table = json.loads(device_rules.METAL_TYPES.read_text(encoding="utf-8"))
    wanted = {pattern for rule in device_rules.read_rules() for pattern in device_rules.patterns(rule)}
    assert table.keys() == wanted


LISTS = """
if mps:
    def mps_ops_modifier(ops):
        SUPPORTED_COMPLEX_OPS = {"add"}
        UNIMPLEMENTED_XFAILLIST: dict = {
            "eig": None,
            "pad": [torch.bool],
            "old": [torch.bool] if MACOS_VERSION < 15.0 else [],
        }
        UNDEFINED_XFAILLIST = {"sort": [torch.float16]}
        ON_MPS_XFAILLIST = {}
        SKIPLIST = {}
        EMPTY_OPS_SKIPLIST = {"empty": None}
        return ops
else:
    def mps_ops_modifier(ops):
        return ops
"""


@pytest.mark.parametrize(
    ("operator", "dtype", "kind"),
    [
        ("eig", "complex64", "missing"),
        ("pad", "bool", "types"),
        ("pad", "int64", "accepted"),
        ("old", "bool", "accepted"),
        ("sort", "float16", "not counted"),
        ("empty", "float32", "not counted"),
        ("add", "complex64", "accepted"),
        ("mul", "complex64", "complex"),
        ("var", "complex64", "not counted"),
    ],
)
def test_lists_of_pytorch_say_how_a_call_ends(operator, dtype, kind):
    assert kind_of(read_lists(LISTS), operator, dtype) == kind


def test_from_2_15_on_complex_failures_are_listed():
    lists = read_lists(LISTS.replace('SUPPORTED_COMPLEX_OPS = {"add"}', 'UNSUPPORTED_COMPLEX_OPS = {"mul"}'))
    assert kind_of(lists, "mul", "complex64") == "complex"
    assert kind_of(lists, "div", "complex64") == "accepted"
