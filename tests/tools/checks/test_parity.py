"""Planted differences between the languages: each must be found, a clean tree must pass."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tools.checks.freshness import page_hash, text_hash
from tools.checks.parity import check, main

ENGLISH = """\
---
description: How to choose the device on a Mac.
---
# Choose the device { #choose }

PyTorch 2.15 needs macOS 15. Read [the guide](../guides/device.md) and [the notes](https://pytorch.org/docs).

## Ask PyTorch { #ask }

Call `pick_device()` with 3 workers for 12,000 images:

```python title="snippets/device.py"
--8<-- "snippets/device.py:pick"
```

!!! warning "Mind the version"
    Before 2.9 the answer differs.

=== "macOS"

    Use `mps`.

=== "Linux"

    Use `cuda`.

## Compare { #compare }

![Bars of 4 devices](curve.en.svg)

| Device | Seconds |
| --- | --- |
| the CPU | 10.5 |
| the GPU of a Mac | 2.1 |

<!-- table: versions -->
"""

CHINESE = """\
---
description: 在 Mac 上怎样选择设备。
---
# 选择设备 { #choose }

PyTorch 2.15 需要 macOS 15。请看[指南](../guides/device.md)和[官方说明](https://pytorch.org/docs)。

## 让 PyTorch 回答 { #ask }

用三个工作进程处理 1.2 万张图片时，调用 `pick_device()`：

```python title="设备"
--8<-- "snippets/device.py:pick"
```

!!! warning "注意版本"
    2.9 之前的结果不同。

=== "macOS"

    用 `mps`。

=== "Linux"

    用 `cuda`。

## 对比 { #compare }

![4 种设备的柱状图](curve.zh.svg)

| 设备 | 秒 |
| --- | --- |
| CPU | 10.5 |
| Mac 的 GPU | 2.1 |

<!-- table: versions -->
"""

DATA = """\
- {name: m1, en: The first chip with 8 cores., zh: 第一款芯片，8 个核心。}
- {name: m2, note_en: Newer., note_zh: 更新的芯片。}
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a small repository whose languages agree."""
    files = {
        "docs/en/start/device.md": ENGLISH,
        "docs/zh/start/device.md": CHINESE,
        "docs/data/notebooks/run.en.md": "---\npage: run.ipynb\ndescription: Run it.\n---\n# Run { #run }\n",
        "docs/data/notebooks/run.zh.md": "---\npage: run.ipynb\ndescription: 运行。\n---\n# 运行 { #run }\n",
        "docs/data/chips.yaml": DATA,
        "README.md": "# Handbook\n\n[中文](README.zh.md)\n\n```sh\nmake test\n```\n",
        "README.zh.md": "# 手册\n\n[English](README.md)\n\n```sh\nmake test\n```\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert main(["synced", "start/device.md", "run.ipynb"], tmp_path) == 0
    return tmp_path


def edit(path: Path, old: str, new: str) -> None:
    """Replace `old`, which must be there, by `new`."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_clean_tree_passes_and_says_how_much_it_compared(tree, capsys):
    assert main([], tree) == 0
    report = check(tree)
    assert report.defects == []
    assert (report.pages, report.headings, report.texts) == (3, 5, 2)
    # Elements: 7 in order, 2 links and 1 image on the page; 1 fence and 1 link of the README.
    assert (report.elements, report.numbers) == (12, 9)
    assert capsys.readouterr().out.splitlines()[-1] == report.summary()


PLANTED = [
    ("heading id", "{ #ask }", "{ #fragen }", "section #ask: heading missing on the Chinese page"),
    ("heading level", "## 对比 {", "### 对比 {", "headings part ways: English h2 #compare"),
    ("no id", "## 对比 { #compare }", "## 对比", "heading without an id: 对比"),
    ("bad id", "{ #compare }", "{ #Compare_it }", "id `Compare_it`: use a-z, 0-9 and hyphens"),
    ("id twice", "## 对比 { #compare }", "## 对比 { #ask }", "the id `ask` is used more than once"),
    ("include", '--8<-- "snippets/device.py:pick"', "x", "section #ask: include snippets/device.py"),
    ("fence language", '```python title="设备"', "```text", "section #ask: fence python"),
    ("fence length", 'device.py:pick"\n', 'device.py:pick"\n\n', "section #ask: fence python"),
    ("admonition type", "!!! warning", "!!! note", "section #ask: admonition !!! warning"),
    ("admonition title", '!!! warning "注意版本"', "!!! warning", "give the admonition a Chinese title"),
    ("tab", '=== "Linux"\n\n    用 `cuda`。', "用 `cuda`。", "section #ask: content tab"),
    ("table row", "| CPU | 10.5 |\n", "", "section #compare: table 3 rows x 2 columns"),
    ("table column", "| CPU | 10.5 |", "| CPU |", "in Chinese"),
    ("table number", "| CPU | 10.5 |", "| CPU | 1.05 |", "table 1, row 2, column 2: number of"),
    ("number in prose", "macOS 15", "macOS 14", "missing in Chinese: 15"),
    ("number in a title", '"注意版本"', '"注意 7 个版本"', "#ask: number of the Chinese"),
    ("scaled number", "1.2 万", "12 万", "missing in Chinese: 12000"),
    ("table marker", "<!-- table: versions -->", "<!-- table: chips -->", "table marker table: versions"),
    ("link", "(../guides/device.md)", "(../guides/memory.md)", "link missing in Chinese: .."),
    ("image", "(curve.zh.svg)", "(other.svg)", "image missing in Chinese: curve.svg"),
    ("inline code", "`pick_device()`", "`选择设备()`", "inline code missing in Chinese: `pick_device()`"),
    ("front matter key", "description: 在", "title: 设备\ndescription: 在", "`title` stands only on the"),
    ("no description", "description: 在 Mac 上怎样选择设备。\n", "", "the Chinese page has no `description`"),
    ("English description", "在 Mac 上怎样选择设备。", "Choose it.", "`description` is not Chinese"),
    ("English heading", "## 对比 {", "## Compare with others {", ""),
    ("hash", "source_hash: ", "source_hash: 0", "docs/zh/start/device.md: stale"),
    ("unclosed fence", "<!-- table: versions -->", "```text", "this fence is never closed"),
    ("formula", "需要 macOS", "需要 $x^2$ macOS", "formula stands only in Chinese: x^2"),
    ("footnote", "需要 macOS 15", "需要[^1] macOS 15", "footnote stands only in Chinese: 1"),
    (
        "English sentence",
        "请看[",
        "This sentence was left behind in English by somebody who was in a hurry. 请看[",
        "section #choose: English sentence on the Chinese page: This sentence",
    ),
    (
        "English sentence full of code",
        "用三个工作进程",
        "Call `to()` once more, set `mps` first, then read `loss` only after\n`step()` so that the GPU never "
        "waits.\n\n用三个工作进程",
        "section #ask: English sentence on the Chinese page: Call `to()` once more, set `mps` first, then",
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "found"), [case[1:] for case in PLANTED], ids=[case[0] for case in PLANTED]
)
def test_planted_difference_is_found(tree, old, new, found):
    if (
        new == "## Compare with others {"
    ):  # equal headings are left in English; different ones are a translation
        edit(tree / "docs/en/start/device.md", "## Compare {", new)
        found = "section #compare: heading left in English: Compare with others"
    edit(tree / "docs/zh/start/device.md", old, new)
    defects = [line for line in check(tree).defects if found in line]
    assert defects and all(line.startswith("docs/zh/start/device.md: ") for line in defects)


@pytest.mark.parametrize("separator", ["，", "\n\n", "\n- ", " | "])
def test_names_one_after_another_are_no_english_sentence(tree, separator):
    names = separator.join(["NumPy", "pandas", "`torch`", "PyTorch Lightning", "Core ML", "MLX"] * 3)
    edit(tree / "docs/zh/start/device.md", "用三个工作进程", f"- {names}\n\n用三个工作进程")
    assert not [line for line in check(tree).defects if "English sentence" in line]


def test_missing_and_extra_pages_are_found(tree):
    (tree / "docs/en/new.md").write_text("---\ndescription: x\n---\n# New { #new }\n", encoding="utf-8")
    (tree / "docs/zh/extra.md").write_text("---\ndescription: 多\n---\n# 多 { #extra }\n", encoding="utf-8")
    (tree / "README.zh.md").unlink()
    defects = check(tree).defects
    for line in (
        "docs/zh/new.md: missing; docs/en/new.md is there",
        "docs/en/extra.md: missing; docs/zh/extra.md is there",
        "README.zh.md: missing; README.md is there",
    ):
        assert line in defects


def test_untranslated_page_is_found(tree):
    shutil.copy(tree / "docs/en/start/device.md", tree / "docs/zh/start/device.md")
    defects = "\n".join(check(tree).defects)
    assert "section #choose: English sentence on the Chinese page: " in defects
    assert "section #choose: heading left in English: Choose the device" in defects
    assert "section #compare: table cell left in English: the GPU" not in defects  # one lower-case word


def test_sources_of_notebooks_are_pages_too(tree):
    edit(tree / "docs/data/notebooks/run.zh.md", "#run", "#lauf")
    assert any("notebooks/run.zh.md: section #run: heading missing" in line for line in check(tree).defects)


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("8 个核心", "10 个核心", "docs/data/chips.yaml: [m1]: number of the English text missing"),
        (", note_zh: 更新的芯片。", "", "docs/data/chips.yaml: [m2].note: text in one language only"),
        (
            "en: The first chip with 8 cores., ",
            "",
            "docs/data/chips.yaml: [m1]: text in one language only",
        ),
    ],
)
def test_data_texts_are_compared(tree, old, new, found):
    edit(tree / "docs/data/chips.yaml", old, new)
    assert any(line.startswith(found) for line in check(tree).defects)


def test_readme_twins_are_compared_without_ids(tree):
    edit(tree / "README.zh.md", "```sh", "```text")
    assert any(line.startswith('README.zh.md: section "Handbook": fence sh') for line in check(tree).defects)


def test_empty_tree_fails(tmp_path, capsys):
    (tmp_path / "docs/en").mkdir(parents=True)
    assert main([], tmp_path) == 1
    assert "nothing was compared" in capsys.readouterr().out


def test_pages_without_headings_are_nothing_to_compare(tmp_path):
    for language in ("en", "zh"):
        path = tmp_path / f"docs/{language}/a.md"
        path.parent.mkdir(parents=True)
        path.write_text("", encoding="utf-8")
    assert any("nothing was compared" in line for line in check(tmp_path).defects)


def test_one_edited_english_word_makes_the_page_stale(tree, capsys):
    edit(tree / "docs/en/start/device.md", "the answer differs", "the result differs")
    assert main([], tree) == 1
    assert "docs/zh/start/device.md: stale" in capsys.readouterr().out


def test_line_ends_and_trailing_spaces_are_ignored():
    assert text_hash("a \nb\n\n") == text_hash("a\r\nb")
    assert text_hash("a\nb") != text_hash("a b")


def test_synced_never_stamps_a_difference(tree, capsys):
    chinese = tree / "docs/zh/start/device.md"
    edit(tree / "docs/en/start/device.md", "## Compare { #compare }", "## Compare { #contrast }")
    before = chinese.read_text(encoding="utf-8")
    assert main(["synced", "start/device.md"], tree) == 1
    assert chinese.read_text(encoding="utf-8") == before
    printed = capsys.readouterr().out
    assert "section #contrast: heading missing on the Chinese page" in printed and "not stamped" in printed
    edit(chinese, "#compare", "#contrast")
    assert main(["synced", "docs/zh/start/device.md"], tree) == 0
    assert f'source_hash: "{page_hash(tree / "docs/en/start/device.md")}"' in chinese.read_text(
        encoding="utf-8"
    )
    assert main([], tree) == 0


def test_synced_changes_one_line_only(tree):
    chinese = tree / "docs/zh/start/device.md"
    before = chinese.read_text(encoding="utf-8").splitlines()
    edit(tree / "docs/en/start/device.md", "the answer differs", "the result differs")
    assert main(["synced", "start/device.md"], tree) == 0
    after = chinese.read_text(encoding="utf-8").splitlines()
    changed = [new for old, new in zip(before, after, strict=True) if old != new]
    assert len(changed) == 1 and changed[0].startswith("source_hash: ")


@pytest.mark.parametrize("name", ["nothing.md", "start/device", ""])
def test_synced_with_an_unknown_page_is_bad_usage(tree, capsys, name):
    assert main(["synced", name], tree) == 2
    assert "name one like start/check-setup.md" in capsys.readouterr().err


def git(tree: Path, *arguments: str) -> None:
    """Run git in the tree."""
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "-C", str(tree), *identity, *arguments], check=True, capture_output=True)


def test_stale_names_the_changed_english_sections(tree, capsys):
    git(tree, "init", "-q")
    git(tree, "add", ".")
    git(tree, "commit", "-q", "-m", "first")
    english = tree / "docs/en/start/device.md"
    edit(english, "Before 2.9 the answer", "Before 2.9 the first answer")
    edit(english, "## Compare { #compare }", "## New { #new }\n\nText.\n\n## Compare { #compare }")
    git(tree, "commit", "-q", "-a", "-m", "second")
    capsys.readouterr()
    assert main(["stale"], tree) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == "docs/zh/start/device.md  (PAGE=start/device.md)"
    assert [line.split(": ", 1)[1] for line in lines[1:3]] == ["#ask: changed", "#new: new"]
    assert lines[3] == "1 of 2 Chinese pages are stale"


def test_stale_without_git_still_lists(tree, capsys):
    edit(tree / "docs/en/start/device.md", "the answer", "the first answer")
    edit(tree / "docs/zh/start/device.md", "source_hash", "other")
    capsys.readouterr()
    assert main(["stale"], tree) == 0
    assert "never reviewed: it has no source_hash" in capsys.readouterr().out
    edit(tree / "docs/zh/start/device.md", "other: ", "source_hash: x")
    assert main(["stale"], tree) == 0
    assert "in no commit" in capsys.readouterr().out
