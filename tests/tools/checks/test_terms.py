"""Planted wrong terms must be found; right words that look similar must not."""

from pathlib import Path

import pytest

from tools.checks.page_reader import read_markdown
from tools.checks.terms import Term, check, forbidden_words, load_glossary, main, missing_terms

GLOSSARY = """\
- {en: training, zh: 训练, require: true, forbidden: [火车, 培训]}
- {en: weight decay, zh: 权重衰减, require: true, forbidden: [体重衰减]}
- {en: checkpoint, zh: 检查点, also: [存档], require: true}
- {en: test set, zh: 测试集, forbidden: [测试组], unless: [测试组合]}
- {en: Adam, zh: Adam, keep: true, forbidden: [亚当]}
- {en: fallback, zh: 回退, forbidden: [fall back, 备胎]}
"""
ENGLISH = (
    "---\ndescription: d\n---\n# Training { #t }\n\n"
    "Adam with weight-decay writes checkpoints. `training` runs.\n"
)
CHINESE = (
    "---\ndescription: 训练说明\n---\n# 训练 { #t }\n\n带权重衰减的 Adam 会写检查点。用 `training` 运行。\n"
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a small repository whose terms are right."""
    for name, text in {
        "docs/data/glossary.yaml": GLOSSARY,
        "docs/data/chips.yaml": "- {en: A chip., zh: 一款芯片。}\n",
        "docs/en/a.md": ENGLISH,
        "docs/zh/a.md": CHINESE,
        "README.md": "# Adam\n",
        "README.zh.md": "# 训练用 Adam\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def test_clean_tree_passes_and_says_how_much_it_checked(tree, capsys):
    assert main([], tree) == 0
    assert capsys.readouterr().out == "terms: 9 Chinese texts checked; 0 defects\n"


@pytest.mark.parametrize(
    ("name", "old", "new", "found"),
    [
        ("docs/zh/a.md", "# 训练 {", "# 火车 {", "docs/zh/a.md:4: `火车` for “training”: write 训练"),
        ("docs/zh/a.md", "训练说明", "培训说明", "docs/zh/a.md:1: `培训` for “training”: write 训练"),
        ("docs/zh/a.md", "权重衰减", "体重**衰减**", "docs/zh/a.md:6: `体重衰减` for “weight decay”"),
        ("docs/zh/a.md", "Adam 会", "亚当会", "docs/zh/a.md:6: `亚当` for “Adam”: keep Adam"),
        ("docs/zh/a.md", "Adam 会", "它会", "docs/zh/a.md: the English page names Adam"),
        ("docs/zh/a.md", "权重衰减", "权重减少", "docs/zh/a.md: the English page says “weight decay”"),
        ("docs/zh/a.md", "检查点", "文件", "docs/zh/a.md: the English page says “checkpoint”"),
        ("docs/zh/a.md", "会写", "会 Fall Back 写", "docs/zh/a.md:6: `Fall Back` for “fallback”"),
        ("README.zh.md", "训练", "火车", "README.zh.md:1: `火车`"),
        ("docs/data/chips.yaml", "一款", "火车", "docs/data/chips.yaml: [A chip.]: `火车`"),
    ],
)  # fmt: skip
def test_planted_wrong_term_is_found(tree, name, old, new, found, capsys):
    path = tree / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    assert main([], tree) == 1
    assert any(line.startswith(found) for line in capsys.readouterr().out.splitlines())


@pytest.mark.parametrize(
    "right",
    [
        "测试组合都通过。",
        "不要写 `火车`。",
        "```text\n火车\n```",
        "见[说明](火车.md)。",
        "用存档代替。",
        "整体重写。",
    ],
)
def test_right_words_are_left_alone(tree, right):
    path = tree / "docs/zh/a.md"
    path.write_text(path.read_text(encoding="utf-8") + f"\n{right}\n", encoding="utf-8")
    assert check(tree)[0] == []


def test_a_required_term_may_be_one_of_the_others(tree):
    path = tree / "docs/zh/a.md"
    path.write_text(path.read_text(encoding="utf-8").replace("检查点", "存档"), encoding="utf-8")
    assert check(tree)[0] == []


def test_terms_in_code_or_other_words_require_nothing():
    terms = [Term("Adam", "Adam", keep=True), Term("checkpoint", "检查点", require=True)]
    english = read_markdown("# A { #a }\n\nAdamW and `Adam`, checkpointing, x-Adam.\n")
    assert list(missing_terms(terms, english, read_markdown("# 甲 { #a }\n"))) == []


def test_nothing_to_check_fails(tmp_path, capsys):
    (tmp_path / "docs/data").mkdir(parents=True)
    (tmp_path / "docs/data/glossary.yaml").write_text("[]", encoding="utf-8")
    assert main([], tmp_path) == 1
    assert "nothing was checked" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("entry", "wrong"),
    [
        ("{en: x, zh: 甲, forbiden: [乙]}", "known:"),
        ("{en: x}", "x: has"),
        ("{en: Adam, zh: 亚当, keep: true}", "a kept term has the same text"),
    ],
)
def test_a_bad_glossary_is_one_line_on_stderr(tree, capsys, entry, wrong):
    (tree / "docs/data/glossary.yaml").write_text(f"- {entry}\n", encoding="utf-8")
    assert main([], tree) == 2
    assert wrong in capsys.readouterr().err


def test_the_real_glossary_does_not_forbid_its_own_words():
    terms = load_glossary()
    assert len({term.en for term in terms}) == len(terms) > 100
    words = [word for term in terms for word in (term.zh, *term.also, term.note_zh)]
    assert list(forbidden_words(terms, words)) == []


# Ordinary Chinese that contains plausible mistranslations, each across the border of two words.
INNOCENT = """
整体重写后，具体重量不变。逐渐变大，逐渐变小。相关卡片和检查站点链接。随机数种子固定为零。测试集成之后，测试组合都通过。
通过配置文件和通过适当的设置。可以去掉期望。用命令列出所有文件。仔细调试该算子。
大规模特征的规模特别大。中介子模块。
参数量化之后，固定量化方案。加工人员和安装置信区间。自动能量管理。系列车型。训练套件和验证集合。数据组织和数据设置。
由规则生成行情，再组成行与列。优化器读取或更新权重。Adam 的偏差修正。体内维持平衡。
三角点阵。补齐缺失的 K 线。个别批次。
读一个 token（词元）。回溯到上一根 K 线。440 Hz 的声音。就地取材。
"""


def test_glossary_finds_known_mistakes_and_spares_innocent_words():
    notorious = ("火车", "体重衰减", "亚当", "批量大小", "统一显存", "过度拟合", "标签噪音", "变压器")
    notorious += ("成行", "词元")
    lines = [f"这里的{wrong}很大。" for wrong in notorious]
    terms = load_glossary()
    assert sorted({line for line, _ in forbidden_words(terms, lines)}) == list(range(1, len(notorious) + 1))
    assert list(forbidden_words(terms, INNOCENT.splitlines())) == []
