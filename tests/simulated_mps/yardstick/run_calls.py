"""Run the calls that battery.py sends, and print at once what became of each: a crash loses one call."""

import ast
import json
import os
import re
import signal
import sys
from typing import Any, NoReturn

import setting
import torch
from torch.utils._pytree import tree_leaves

SECONDS = 60  # for a call
# Values that are drawn, uninitialized, or right in several ways; draws in place end with an underscore.
NO_ONE_VALUE = re.compile(
    r"rand|drop|dist\.|init\.|[a-z]_\(|bernoulli|multinomial|poisson|binomial|normal|gumbel|rrelu|ractional|empty"
    r"|Generator|svd|eig|qr|lu\(|lu_|ldl|ptr|hash|lobpcg|orthogonal|spectral|Transformer|Lazy|default_device|torch\.device"
)


def give_up(_signal: int, _frame: Any) -> NoReturn:
    """End a call that takes too long."""
    raise TimeoutError(f"no result after {SECONDS} s")


def evaluate(code: str, device: str) -> Any:
    """Run the statements of a call and return the value of the last, if it has one."""
    torch.manual_seed(0)
    names = setting.namespace(device)
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "call", "exec"), names)
    return eval(compile(ast.Expression(last.value), "call", "eval"), names) if last else None


def differs(result: Any, code: str) -> bool:
    """Tell whether the CPU has other values."""
    setting.restore()
    try:
        on_cpu = evaluate(code, "cpu")
    except Exception:  # nothing to compare with
        return False
    for mine, other in zip(tree_leaves(result), tree_leaves(on_cpu), strict=False):
        if (
            isinstance(mine, torch.Tensor)
            and isinstance(other, torch.Tensor)
            and mine.layout == torch.strided
        ):
            try:
                torch.testing.assert_close(mine.cpu(), other.cpu(), rtol=2e-2, atol=2e-2, equal_nan=True)
            except AssertionError:
                return True
    return False


def outcome(code: str, device: str, values: bool) -> str:
    """Return `ok`, that the values differ, or the type and the text of the error."""
    if "np." in code and setting.np is None:
        return "left out: no NumPy"
    signal.alarm(SECONDS)
    try:
        result = evaluate(code, device)
        if device == "mps":
            torch.mps.synchronize()
        other = values and not NO_ONE_VALUE.search(code) and differs(result, code)
        return "ok, with other values than the CPU's" if other else "ok"
    except Exception as error:
        return f"{type(error).__name__}: " + " ".join(str(error).split())[:400]
    finally:
        signal.alarm(0)
        setting.restore()


def main() -> None:
    """Read what to run, and answer in lines of JSON."""
    signal.signal(signal.SIGALRM, give_up)
    out = os.fdopen(os.dup(1), "w")  # what calls print goes to the errors
    os.dup2(2, 1)
    asked = json.load(sys.stdin)
    for code in asked["codes"]:
        print(json.dumps([code, outcome(code, asked["device"], asked["values"])]), file=out, flush=True)


if __name__ == "__main__":
    main()
