"""The list of operators that comes with PyTorch, read without a YAML parser, and what it says about MPS."""

import re
from pathlib import Path

import pytest
import torch
import yaml

from snippets import operator_support
from snippets.errors import UsageError, exit_with_one_line
from snippets.operator_support import (
    COMPOSED,
    ELSEWHERE,
    FALLS_BACK,
    HAS_KERNEL,
    MISSING,
    installed_list,
    main,
    read_operators,
    support,
)


@pytest.fixture(scope="module")
def operators():
    return read_operators(installed_list())


def test_operator_list_is_read_as_by_yaml(operators):
    entries = yaml.load(installed_list().read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    assert len(entries) > 2000
    assert len(operators) == len(entries)
    for entry in entries:
        operator = operators[entry["func"].partition("(")[0]]
        keys = {key.strip() for group in entry.get("dispatch") or {} for key in group.split(",")}
        assert operator.keys == keys, operator.name
        assert operator.delegate == entry.get("structured_delegate"), operator.name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mm", HAS_KERNEL),
        ("add.Tensor", HAS_KERNEL),  # through the operator that it delegates to
        ("dropout", COMPOSED),
        ("_foreach_add.List", COMPOSED),  # no MPS kernel, but a slow path for every device
        ("linalg_eig", MISSING),
        ("channel_shuffle", MISSING),
        ("adaptive_max_pool3d", MISSING),
        ("embedding_renorm_", FALLS_BACK),
        ("mkldnn_rnn_layer", ELSEWHERE),
    ],
)
def test_verdicts_on_known_operators(operators, name, expected):
    assert support(name, operators) == expected


@pytest.mark.parametrize("word", ["linalg_eig", "aten::linalg_eig", "aten.linalg_eig.default"])
def test_command_line(capsys, word):
    assert exit_with_one_line(main, [word]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"PyTorch {torch.__version__.split('+')[0]}"
    assert "linalg_eig has no MPS kernel" in lines
    assert not any(line.startswith("linalg_eigh") for line in lines)


def test_one_overload_alone(capsys):
    assert exit_with_one_line(main, ["aten.add.Tensor", "mm"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:3] == ["add.Tensor has an MPS kernel", "mm has an MPS kernel"]


def test_mistakes_are_one_line(capsys, monkeypatch):
    assert exit_with_one_line(main, ["linalg_egi"]) == 2
    assert "did you mean linalg_eig" in capsys.readouterr().err
    assert exit_with_one_line(main, []) == 2
    assert capsys.readouterr().err.count("\n") == 1
    monkeypatch.setattr(operator_support, "LIST", "packaged/gone.yaml")
    with pytest.raises(UsageError, match=r"has no packaged/gone\.yaml"):
        installed_list()


@pytest.mark.skipif(torch.__version__.split("+")[0] != "2.15.0", reason="the page is about 2.15.0")
def test_the_page_names_missing_operators_only(operators):
    page = Path("docs/en/guides/missing-operators.md").read_text(encoding="utf-8")
    sentences = page.partition("For less common operators")[2].partition("\n")[0]
    names = re.findall(r"`(\w+)`", sentences)
    assert len(names) >= 6
    assert {name: support(name, operators) for name in names} == dict.fromkeys(names, MISSING)
