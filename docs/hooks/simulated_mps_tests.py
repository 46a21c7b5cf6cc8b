"""PyTorch's own tests of MPS on the simulated device, from docs/data/results/simulated_mps.yaml."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from markdown_tables import SPREAD, Column, written
from origins import explained, load, origin

GROUPS = {
    "hand_written": {"en": "written one by one", "zh": "逐个写成的测试"},
    "consistency": {"en": "operators, compared with the CPU", "zh": "算子，与 CPU 比较"},
    "error_inputs": {"en": "operators, with wrong input", "zh": "算子，错误的输入"},
    "numpy": {"en": "operators, compared with NumPy", "zh": "算子，与 NumPy 比较"},
}
ALL = {"en": "**together**", "zh": "**合计**"}
SHOULD_PASS = ("passed", "failed", "crashed")
SHOULD_FAIL = ("fails_on_both", "fails_on_mps_only")
LEFT_OUT = ("needs_metal", "other_release", "skipped")
TESTS = (
    Column("Tests", "测试", "name"),
    Column("Should pass on a Mac", "在 Mac 上应该通过", "should_pass", written(",")),
    Column("Pass here", "在这里通过", "passed", written(",")),
    Column("Accepts what a Mac accepts", "Mac 接受的，也接受", "accepts", written(".1%")),
    Column("Should fail on a Mac", "在 Mac 上应该失败", "should_fail", written(",")),
    Column("Fail here", "在这里失败", "fails_on_both", written(",")),
    Column("Refuses what a Mac refuses", "Mac 拒绝的，也拒绝", "refuses", written(".1%")),
    Column("Not counted", "不计入", "others", written(",")),
)
STEPS = (
    Column(
        "Training step",
        "训练一步",
        ("batch_size", "width"),
        form={"en": "batch size {}, width {}", "zh": "批大小 {}，宽度 {}"},
    ),
    Column("CPU, ms", "CPU，ms", "cpu", written(".3g", 1e3), SPREAD),
    Column("Simulated MPS, ms", "模拟的 MPS，ms", "mps", written(".3g", 1e3), SPREAD),
    Column("Ratio", "倍数", "ratio", written(".3g"), SPREAD),
)
TEXT = {
    "en": {
        "end": ".",
        "others": "Should pass, should fail: by the lists of the PyTorch that was tested. "
        "Not counted: tests that were skipped, need Metal, or are written for another release.",
        "medians": "Medians with the 10% and 90% quantiles; steps on both devices alternate.",
    },
    "zh": {
        "end": "。",
        "others": "应该通过还是失败，以所测 PyTorch 自带的清单为准。"
        "不计入的是跳过的、需要 Metal 的、为别的版本写的测试。",
        "medians": "中位数与 10%、90% 分位数；两种设备上的步交替进行。",
    },
}


def _row(name: dict[str, str], counts: Counter[str]) -> dict[str, Any]:
    should_pass, should_fail, others = (
        sum(counts[kind] for kind in kinds) for kinds in (SHOULD_PASS, SHOULD_FAIL, LEFT_OUT)
    )
    return {
        "name": name,
        "should_pass": should_pass,
        "passed": counts["passed"],
        "accepts": counts["passed"] / should_pass if should_pass else None,
        "should_fail": should_fail,
        "fails_on_both": counts["fails_on_both"],
        "refuses": counts["fails_on_both"] / should_fail if should_fail else None,
        "others": others,
    }


def render(language: str) -> str:
    """Return the table and its origin as Markdown in `language` ("en" or "zh").

    Tests that crash count as failed. Raises ValueError for a group of tests or a kind of outcome that the
    table has no place for.
    """
    text, tests = TEXT[language], load("simulated_mps")["tests"]
    groups = {name: Counter(tests["counts"][name]) for name in GROUPS if name in tests["counts"]}
    kinds = {kind for counts in groups.values() for kind in counts}
    if unknown := (kinds - {*SHOULD_PASS, *SHOULD_FAIL, *LEFT_OUT}) | (tests["counts"].keys() - set(GROUPS)):
        raise ValueError(f"simulated_mps.yaml has counts of an unknown kind: {', '.join(sorted(unknown))}")
    rows = [_row(GROUPS[name], counts) for name, counts in groups.items()]
    rows.append(_row(ALL, sum(groups.values(), Counter())))
    source = f"{tests['source']}{text['end']}"
    return explained(TESTS, rows, language, source, origin(tests, language), text["others"])


def render_speed(language: str) -> str:
    """Return the table of training steps and its origin as Markdown."""
    speed = load("simulated_mps")["speed"]
    return explained(STEPS, speed["steps"], language, origin(speed, language), TEXT[language]["medians"])


TABLES: dict[str, Callable[[str], str]] = {
    "simulated-mps-tests": render,
    "simulated-mps-speed": render_speed,
}
