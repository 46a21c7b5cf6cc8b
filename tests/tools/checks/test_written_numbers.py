"""Numbers in digits: which forms are equal, which differ, which are free."""

import pytest

from tools.checks.written_numbers import compare_numbers, find_numbers

EQUAL = [
    ("12,000 images", "1.2 万张图片"),
    ("12000 images", "12,000 张图片"),
    ("110 million rows", "1.1 亿行"),
    ("11.2M parameters", "1120 万个参数"),
    ("7B weights, 5k steps", "70 亿个权重，5000 步"),
    ("11,173,962 parameters", "11173962 个参数"),
    ("20 November 2026", "2026 年 11 月 20 日"),
    ("November 20, 2026", "2026-11-20"),
    ("2026-09-05, Sept. 2025", "2026 年 9 月 5 日，2025 年 9 月"),
    ("PyTorch 2.15.0 on macOS 15", "macOS 15 上的 PyTorch 2.15.0"),
    ("bf16 on an M4 with ResNet-18", "M4 上用 bf16 训练 ResNet-18"),
    ("from 1e-3 to 5e-4, -2 °C", "从 1e-3 到 5e-4，-2 °C"),
    ("97 percent", "97%"),
    ("3 workers, 2 GPUs", "三个工作进程、两块 GPU"),
    ("three workers, twenty steps, twice", "3 个工作进程、20 步、2 次"),
    ("100 kg and 3 kB", "100 千克和 3 千字节"),
    ("5 points", "5 百分点"),
    ("1. first\n2. second", "- 第一\n- 第二"),
    ("1. needs 4 GB\n   more\n2. then 8 GB", "1. 需要 4 GB\n2. 然后 8 GB"),
    ("16×16 pixels, 2.9–2.14", "16×16 像素，2.9 到 2.14"),
    ("at 7 and again at 7", "在 7 处"),
]

DIFFERENT = [
    ("PyTorch 2.10", "PyTorch 2.1"),
    ("12,000 images", "1.3 万张图片"),
    ("5 steps", "50 步"),
    ("-5 degrees", "5 度"),
    ("2 November 2026", "2026 年 12 月 2 日"),
    ("no number", "3 个"),
    ("3 numbers", "统一"),
    ("15 files", "十五个文件"),
    ("1e-3", "1e-4"),
    ("11.2M", "112 万"),
]


@pytest.mark.parametrize(("english", "chinese"), EQUAL)
def test_equal(english, chinese):
    assert compare_numbers(english, chinese)[1] == []


@pytest.mark.parametrize(("english", "chinese"), DIFFERENT)
def test_different(english, chinese):
    assert compare_numbers(english, chinese)[1]


def test_both_directions_are_named():
    compared, defects = compare_numbers("8 GB and 16 GB", "8 GB 和 32 GB")
    assert compared == 3
    assert defects == [
        "number of the English text missing in Chinese: 16",
        "number of the Chinese text missing in English: 32",
    ]


def test_exact_counts_every_occurrence():
    assert compare_numbers("5 / 5", "5", exact=True)[1]
    assert not compare_numbers("5 / 5", "5 / 5", exact=True)[1]


def test_english_scale_words_mean_nothing_in_chinese():
    assert find_numbers("3 million", "zh") == {"3": 1}
    assert find_numbers("3 million", "en") == {"3000000": 1}
