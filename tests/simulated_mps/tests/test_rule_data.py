"""rules.json and metal_types.json: what they name exists, and what holds depends on release and macOS."""

import pytest
import torch
from simulated_mps import device, rules
from simulated_mps.kernels import releases

FIELDS = {
    *("operators", "argument", "types", "on", "option", "value", "when"),
    *("since", "until", "before_macos", "outcome", "text", "kernel", "search", "shared"),
}


@pytest.mark.parametrize("kind", ["refused", "mixed_devices", "beyond_the_cpu"])
def test_every_rule_names_what_exists(kind):
    for rule in rules.read()[kind]:
        assert rule.keys() <= FIELDS
        assert {rule.get("since", "2.9"), rule.get("until", "2.9")} <= set(releases())
        assert kind == "beyond_the_cpu" or ("text" in rule) != ("kernel" in rule)
        for operator in rule["operators"]:
            name, _, overload = operator.partition(".")
            schema = torch._C._get_schema(f"aten::{name}", overload)
            names = {argument.name for argument in schema.arguments}
            assert {rule[key] for key in ("argument", "option") if key in rule} <= names


def test_every_rule_of_a_kernel_finds_its_types():
    for rule in rules.read()["refused"]:
        if "kernel" in rule:
            assert any(
                rules.texts_of(rule, operator, release)
                for operator in rule["operators"]
                for release in releases()
            ), rule


def test_an_unknown_argument_is_an_error():
    rule = device.loaded.Rule("aten::add.Tensor", "", "RuntimeError", "input", [], False, "", "", "")
    with pytest.raises(RuntimeError, match="add has no argument input"):
        device.loaded.set_rules([], [], False, "", 13, [rule], {}, {})


def test_rules_depend_on_release_and_macos():
    rule = {"since": "2.10", "until": "2.12", "before_macos": "15.1"}
    assert rules.holds(rule, "2.10", (14, 0)) and rules.holds(rule, "2.12", (15, 0))
    assert not rules.holds(rule, "2.9", (14, 0)) and not rules.holds(rule, "2.13", (14, 0))
    assert not rules.holds(rule, "2.11", (15, 1))


def test_a_kernel_is_missing_only_where_others_are_there(monkeypatch):
    monkeypatch.setattr(rules, "kernels", lambda: {"a_{type}": {"2.13": "float half"}})
    rule = {"operators": ["a.out"], "types": "complex", "kernel": "{operator}_{type}"}
    found = rules.texts_of(rule, "a.out", "2.13")
    assert found == {
        f"{rules.KERNEL}a_float2": [torch.complex64],
        f"{rules.KERNEL}a_half2": [torch.complex32],
    }
    assert rules.texts_of(rule, "a.out", "2.12") == {}
