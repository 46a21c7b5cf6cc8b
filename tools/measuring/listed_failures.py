"""What PyTorch's own tests expect to fail on MPS: common_mps.py in the wheels of its releases."""

from __future__ import annotations

import ast
import zipfile
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

LISTS = "torch/testing/_internal/common_mps.py"
FUNCTION = "mps_ops_modifier"  # its lists are those of the forward pass
SKIPPED = ("SKIPLIST", "EMPTY_OPS_SKIPLIST")
MACOS = 26.0  # newer than all that the lists ask about
# Listed, but what fails is a comparison with the CPU: the comments of the lists and of OpInfo say so.
COMPARED = {
    *("resize_", "resize_as_"),  # memory without values
    *("rand_like", "uniform", "normalin_place", "svd_lowrank", "pca_lowrank"),  # random values
    *("nn.functional.dropout2d", "nn.functional.dropout3d", "nn.functional.alpha_dropout"),
    "nn.functional.feature_alpha_dropoutwith_train",
    *("var", "varunbiased", "var_mean", "var_meanunbiased"),  # complex results
    *("std", "stdunbiased", "std_mean", "std_meanunbiased"),
    "bincount",  # the CPU's result is float64
    "nn.functional.conv_transpose2d",  # rounding of bfloat16
}
# Not listed, but skipped elsewhere: MPS has no kernel, or only the CPU has the operator.
WITHOUT_KERNEL = {
    "nn.functional.channel_shuffle",
    "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu",
}

Types = Collection[str] | None  # None: all


def read_lists(code: str) -> dict[str, Mapping[str, Types]]:
    """Return the lists by name: operators, each with its types."""
    found: dict[str, Mapping[str, Types]] = {}
    functions = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.FunctionDef)]
    for function in functions:
        if function.name != FUNCTION or len(function.body) == 1:  # it does nothing where there is no MPS
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Dict | ast.Set):
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                found[ast.unparse(target)] = read_list(node.value)
    return found


def read_list(node: ast.Dict | ast.Set) -> dict[str, Types]:
    """Return the operators of one list."""
    if isinstance(node, ast.Set):
        return dict.fromkeys(ast.literal_eval(node))
    names = [ast.literal_eval(key) for key in node.keys if key is not None]
    return {name: read_types(value) for name, value in zip(names, node.values, strict=True)}


def read_types(node: ast.expr) -> Types:
    """Return types such as "float16"; None: all."""
    if isinstance(node, ast.IfExp):  # by macOS, of which the newest is meant
        test: Any = eval(ast.unparse(node.test), {"MACOS_VERSION": MACOS})
        return read_types(node.body if test else node.orelse)
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return [each.attr for each in node.elts if isinstance(each, ast.Attribute)]
    return None


def read_wheel(wheel: Path) -> dict[str, Mapping[str, Types]]:
    """Return the lists in a wheel."""
    with zipfile.ZipFile(wheel) as content:
        return read_lists(content.read(LISTS).decode())


def has(entries: Mapping[str, Types], operator: str, dtype: str) -> bool:
    """Return whether a list names `operator` for `dtype`."""
    if operator not in entries:
        return False
    types = entries[operator]
    return types is None or dtype in types


def kind_of(lists: Mapping[str, Mapping[str, Types]], operator: str, dtype: str) -> str:
    """Return how a call is expected to end: "accepted", a kind of refusal, or "not counted"."""
    if operator in WITHOUT_KERNEL or any(has(lists[name], operator, dtype) for name in SKIPPED):
        return "not counted"
    unimplemented = lists["UNIMPLEMENTED_XFAILLIST"]
    compared = any(has(lists[name], operator, dtype) for name in ("UNDEFINED_XFAILLIST", "ON_MPS_XFAILLIST"))
    if has(unimplemented, operator, dtype):
        kind = "missing" if unimplemented[operator] is None else "types"
    elif compared:
        return "not counted"
    elif dtype.startswith("complex") and fails_for_complex(lists, operator):
        kind = "complex"
    else:
        return "accepted"
    return "not counted" if operator in COMPARED else kind


def fails_for_complex(lists: Mapping[str, Mapping[str, Types]], operator: str) -> bool:
    """Return whether complex numbers are expected to fail: up to 2.14 the list is of those that do not."""
    if "UNSUPPORTED_COMPLEX_OPS" in lists:
        return operator in lists["UNSUPPORTED_COMPLEX_OPS"]
    return operator not in lists["SUPPORTED_COMPLEX_OPS"]
