"""The table of how long saving, checking and loading a checkpoint takes, from docs/data/results/."""

from results_table import load, table

TEXT = {
    "en": {
        "head": ["Step", "Median", "10% to 90% of the readings"],
        "save": "Save, with the check of the file before it",
        "check": "Check every CRC-32",
        "load": "Load, with the check",
        "milliseconds": "{low:.3g} to {high:.3g} ms",
        "measured": "Full-size ResNet-18 with SGD, {size} MB. {machine}; "
        "PyTorch {torch}, Python {python}; {date}. Made by `{command}`.",
    },
    "zh": {
        "head": ["步骤", "中位数", "10% 到 90% 的读数"],
        "save": "保存，包括检查前一个文件",
        "check": "核对全部 CRC-32",
        "load": "加载，包括检查",
        "milliseconds": "{low:.3g} 到 {high:.3g} ms",
        "measured": "完整大小的 ResNet-18 加 SGD，{size} MB。{machine}；"
        "PyTorch {torch}，Python {python}；{date}。由 `{command}` 生成。",
    },
}


def render(language: str) -> str:
    """Return a table and a line of provenance per machine, as Markdown in `language` ("en" or "zh")."""
    text, parts = TEXT[language], []
    for machine in load("checkpoint_cost"):
        rows = []
        for step in ("save", "check", "load"):
            found = {key: 1000 * seconds for key, seconds in machine[step].items()}
            rows.append([text[step], f"{found['median']:.3g} ms", text["milliseconds"].format(**found)])
        facts = {name: machine[name] for name in ("date", "command")} | machine["versions"]
        facts |= {"machine": machine["machine"][language], "size": f"{machine['bytes'] / 1e6:.1f}"}
        parts += [table(text["head"], rows), text["measured"].format(**facts)]
    return "\n".join(parts)
