"""Planted slips of Chinese typography must be found; code, markers and correct text must not."""

from pathlib import Path

import pytest

from tools.checks.chinese_prose import marks
from tools.checks.page_reader import read_markdown
from tools.checks.typography import check_page, corrected, lost_emphasis, main


def slips(text: str) -> list[tuple[int, str]]:
    """Return the defects of a page."""
    return list(check_page(read_markdown(text)))


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("在Mac上训练", "在 Mac 上训练"),
        ("共3个", "共 3 个"),
        ("训练,验证;测试:结束!", "训练，验证；测试：结束！"),
        ("真的吗? 是。", "真的吗？是。"),
        ("设备(默认)", "设备（默认）"),
        ("设备 (CPU) 可选", "设备（CPU）可选"),
        ("batch size (批大小)", "batch size（批大小）"),
        ('所谓"统一内存"指', "所谓“统一内存”指"),
        ("支持 SGD, Adam 和 AdamW。", "支持 SGD、Adam 和 AdamW。"),
        ("见 PyTorch 2.15,macOS 15。", "见 PyTorch 2.15、macOS 15。"),
        ("很快 ，很稳 。", "很快，很稳。"),
        ("统一 内存", "统一内存"),
        ("等等...", "等等……"),
        ("提升 30 %，", "提升 30%，"),
        ("训练结束.", "训练结束。"),
        ("这里用 PyTorch.", "这里用 PyTorch。"),
        ("编号１２３", "编号 123"),
    ],
)
def test_slip_is_found_with_the_right_text(wrong, right):
    assert corrected(wrong) == right
    assert corrected(right) == right
    assert len(slips(f"{wrong}\n")) >= 1


@pytest.mark.parametrize(
    "text",
    [
        "在 Mac 上用 `torch.mps` 训练（见 `a`），很快。",
        "PyTorch 2.15 需要 macOS 15；30% 的提升，25 °C，3×3 卷积。",
        "时间 10:30，比例 1:2，输入/输出，C++、A/B。",
        "“统一内存”是 Apple 芯片的内存；参见[设备](a.md)一节，以及 [MPS](b.md)。",
        "学习率从 1e-3 降到 5e-4——余弦退火……",
        "版本 ≥ 2.13，准确率 ≥ 97%，约 ±2%。",
        "**注意**：不要用。`a`（默认）与 `b`（可选）",
        "f(x) = ax + b 是一次函数，$x$ 表示输入，$y=f(x)$ 表示输出。",
        "PyTorch（2.15）与 torchvision（0.29），CPU → MPS → bf16。",
        "见 [Attention, please: a study](https://example.org/a) 这篇论文。",
        "English only, with (brackets) and commas, is not judged.",
        "- 第一项\n- 第二项\n\n1. 第一步\n2. 第二步",
        "> 引用的一段话。",
        "- [x] 已完成的任务",
        "使用 Python 3.11.5+。共 12,000 张，11,173,962 个参数。",
        ":material-laptop: 选择设备",
        "<div>在 Mac 上</div><div>训练</div>",
        "注释在后面。<!-- 在Mac上,\n随便写 -->",
    ],
)
def test_correct_text_passes(text):
    assert slips(f"{text}\n") == []


def test_what_is_no_prose_is_not_looked_at():
    assert (
        slips(
            "---\ndescription: 在 Mac 上\nsource_hash: abc中文\n---\n# 设备 { #shebei }\n\n"
            "```text\n在Mac上,训练\n```\n\n<!-- table: 表格abc -->\n\n"
            '`在Mac上,` 与[链接](中文abc.md)和<a href="在Mac上">网页</a>。\n'
        )
        == []
    )


def test_every_kind_of_prose_is_looked_at():
    found = slips(
        "---\ndescription: 在Mac上\n---\n# 在Mac上 { #a }\n\n"
        '!!! note "在Mac上"\n    在Mac上。\n\n=== "在Mac上"\n\n    在Mac上。\n\n'
        "| 在Mac上 | 值 |\n| --- | --- |\n| 好 | 在Mac上 |\n\n- 在Mac上\n\n![在Mac上](a.svg)\n"
    )
    assert [line for line, _ in found] == [1, 4, 6, 7, 9, 11, 13, 15, 17, 19]
    assert all("在 Mac 上" in what for _, what in found)


def test_code_next_to_chinese_needs_a_space():
    assert slips("使用`mps`设备。\n") == [(1, "使用`…`设备。  ->  使用 `…` 设备。")]


def test_line_break_in_a_chinese_paragraph_is_found():
    assert slips("第一行的文字\n接着写。\n") == [
        (2, "line break inside a Chinese paragraph shows as a space: join it with the line before")
    ]
    assert [line for line, _ in slips("- 一项很长的\n  文字\n- 第二项\n")] == [2]
    assert slips("PyTorch\nMPS 的文字\n") == []


def test_bold_text_lost_on_github_is_found():
    text = "**注意。**请看\n这是**“内存”**的\n**注意**：请看，**重点**在此。**好。**\n**结束。** 再来"
    assert [line for line, _ in lost_emphasis(text)] == [1, 2]


HUNDRED = "训练" * 50


@pytest.mark.parametrize(
    ("text", "too_many"),
    [
        (HUNDRED * 10 + "：" * 9 + "；" * 2, False),
        (HUNDRED * 10 + "：" * 10, True),
        (HUNDRED * 10 + "；" * 3, True),
        ("甲：乙：丙：丁；戊", False),  # every page may have three and one
        ("甲：乙：丙：丁：戊", True),
        ("甲；乙；丙", True),
        (HUNDRED + "\n\n| 甲 | 乙 |\n| --- | --- |\n| 丙：丁：戊 | 己：庚；辛；壬 |\n", False),
        (HUNDRED + "`：：：：`\n\n```text\n：：：：；；\n```\n\n<!-- ：：：：；； -->\n", False),
        ("---\ndescription: 甲：乙：丙：丁：戊\n---\n" + HUNDRED, False),
        ("![甲：乙；丙](a.svg#only-light)![甲：乙；丙](b.svg#only-dark)" * 3, False),
        ("甲。来源：乙。" * 4, False),  # a label
        ("- **甲**：一\n- **乙**：二\n- **丙**：三\n- **丁**：四\n", True),
    ],
)
def test_colons_and_semicolons_of_prose_are_counted(text, too_many):
    assert marks(text + "\n").too_many() == too_many


def test_figures_of_a_page_are_printed(tmp_path: Path, capsys):
    page = tmp_path / "docs/zh/a.md"
    page.parent.mkdir(parents=True)
    (tmp_path / "docs/data").mkdir()
    page.write_text("# 甲 { #a }\n\n" + HUNDRED + "：" * 4 + "\n", encoding="utf-8")
    assert main([], tmp_path) == 1
    figures = "docs/zh/a.md: 4 colons and 0 semicolons in 101 Han: 39.6 and 0.0 per 1,000"
    assert capsys.readouterr().out.startswith(f"{figures}; at most 9 and 2: join")
    assert main(["--marks"], tmp_path) == 0
    assert capsys.readouterr().out == f"{figures}\n"


def test_command_line(tmp_path: Path, capsys):
    page = tmp_path / "docs/zh/a.md"
    page.parent.mkdir(parents=True)
    (tmp_path / "docs/data").mkdir()
    assert main([], tmp_path) == 1
    assert "nothing was checked" in capsys.readouterr().out
    page.write_text("# 在 Mac 上 { #a }\n", encoding="utf-8")
    (tmp_path / "docs/data/a.yaml").write_text("en: chip\nzh: 芯片\n", encoding="utf-8")
    (tmp_path / "README.zh.md").write_text("# 手册\n", encoding="utf-8")
    assert main([], tmp_path) == 0
    assert capsys.readouterr().out == "typography: 3 Chinese texts checked; 0 defects\n"
    page.write_text("# 甲 { #a }\n\n在Mac上，**好。**好\n", encoding="utf-8")
    (tmp_path / "README.zh.md").write_text("# 手册\n\n**好。**好\n", encoding="utf-8")
    (tmp_path / "docs/data/a.yaml").write_text("en: chip\nzh: M1芯片\n", encoding="utf-8")
    assert main([], tmp_path) == 1
    assert capsys.readouterr().out.splitlines()[:3] == [
        "docs/zh/a.md:3: 在Mac上，好。好  ->  在 Mac 上，好。好",
        "README.zh.md:3: GitHub shows the asterisks: put the punctuation outside of **好。**",
        "docs/data/a.yaml: top level: M1芯片  ->  M1 芯片",
    ]
