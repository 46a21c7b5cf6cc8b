"""PyTorch's own tests of MPS on the simulated device, from docs/data/results/simulated_mps.yaml."""

from collections import Counter

from results_table import load, table

GROUPS = ("hand_written", "consistency", "error_inputs", "numpy")
LEFT_OUT = ("needs_metal", "fails_on_both", "fails_on_mps_only", "other_release", "skipped")
TEXT = {
    "en": {
        "head": ["Tests", "Passed", "Failed", "Share passed", "Not counted: need Metal", "Other reasons"],
        "hand_written": "written one by one",
        "consistency": "operators, compared with the CPU",
        "error_inputs": "operators, with wrong input",
        "numpy": "operators, compared with NumPy",
        "all": "**together**",
        "measured": "{source}. {machine}; PyTorch {torch}, Python {python}; {date}. Made by `{command}`. "
        "Other reasons: skipped, known to fail on a Mac, or written for another release.",
        "steps": ["Training step", "CPU, ms", "Simulated MPS, ms", "Ratio"],
        "step": "batch size {batch_size}, width {width}",
        "spread": "{median} ({low} to {high})",
        "timed": "{machine}; PyTorch {torch}, Python {python}; {date}. Made by `{command}`. "
        "Medians with the 10% and 90% quantiles; steps on both devices alternate.",
    },
    "zh": {
        "head": ["测试", "通过", "失败", "通过的比例", "不计入：需要 Metal", "不计入：其他原因"],
        "hand_written": "逐个写成的测试",
        "consistency": "算子，与 CPU 比较",
        "error_inputs": "算子，错误的输入",
        "numpy": "算子，与 NumPy 比较",
        "all": "**合计**",
        "measured": "{source}。{machine}；PyTorch {torch}，Python {python}；{date}。由 `{command}` 生成。"
        "其他原因：跳过的、已知在 Mac 上失败的、为别的版本写的。",
        "steps": ["训练一步", "CPU，ms", "模拟的 MPS，ms", "倍数"],
        "step": "批大小 {batch_size}，宽度 {width}",
        "spread": "{median}（{low} 到 {high}）",
        "timed": "{machine}；PyTorch {torch}，Python {python}；{date}。由 `{command}` 生成。"
        "中位数与 10%、90% 分位数；两种设备上的步交替进行。",
    },
}


def _row(name: str, counts: Counter[str]) -> list[str]:
    failed = counts["failed"] + counts["crashed"]
    share = counts["passed"] / (counts["passed"] + failed)
    others = sum(counts[kind] for kind in LEFT_OUT if kind != "needs_metal")
    numbers = (counts["passed"], failed, counts["needs_metal"], others)
    passed, failed_, metal, other = (f"{number:,}" for number in numbers)
    return [name, passed, failed_, f"{share:.1%}", metal, other]


def _facts(content: dict, part: str, language: str) -> dict[str, object]:
    found = content[part]
    return found["versions"] | {
        "source": found.get("source"),
        "date": found["date"],
        "command": found["command"],
        "machine": content["machine"][language],
    }


def render(language: str) -> str:
    """Return the table and a line of provenance as Markdown in `language` ("en" or "zh").

    Tests that crash count as failed; the share is of those that passed or failed. Raises ValueError for a
    group of tests or a kind of outcome that the table has no place for.
    """
    text, content = TEXT[language], load("simulated_mps")
    tests = content["tests"]
    groups = {name: Counter(tests["counts"][name]) for name in GROUPS if name in tests["counts"]}
    kinds = {kind for counts in groups.values() for kind in counts}
    if unknown := (kinds - {"passed", "failed", "crashed", *LEFT_OUT}) | (
        tests["counts"].keys() - set(GROUPS)
    ):
        raise ValueError(f"simulated_mps.yaml has counts of an unknown kind: {', '.join(sorted(unknown))}")
    rows = [_row(text[name], counts) for name, counts in groups.items()]
    rows.append(_row(text["all"], sum(groups.values(), Counter())))
    facts = _facts(content, "tests", language)
    return "\n".join([table(text["head"], rows), text["measured"].format(**facts)])


def render_speed(language: str) -> str:
    """Return the table of training steps and a line of provenance as Markdown."""
    text, content = TEXT[language], load("simulated_mps")

    def spread(found: dict[str, float], unit: float) -> str:
        return text["spread"].format(**{name: f"{value * unit:.3g}" for name, value in found.items()})

    units = {"cpu": 1e3, "mps": 1e3, "ratio": 1}
    rows = [
        [text["step"].format(**step), *(spread(step[name], unit) for name, unit in units.items())]
        for step in content["speed"]["steps"]
    ]
    facts = _facts(content, "speed", language)
    return "\n".join([table(text["steps"], rows), text["timed"].format(**facts)])
