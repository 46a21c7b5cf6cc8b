"""Text in boxes ends its lines where readers expect it."""

import pytest

from tools.drawing import boxes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one two three four", ["one two three", "four"]),
        ("一二三四五六七八九", ["一二三四五六七八", "九"]),
        ("一二三四五六七八，九", ["一二三四五六七", "八，九"]),  # no mark begins a line
        ("一二 MPS 五", ["一二 MPS 五"]),
    ],
)
def test_lines_end_between_words_or_chinese_letters(text, expected):
    assert boxes.wrapped(text, 8.2 * boxes.SIZE) == expected
