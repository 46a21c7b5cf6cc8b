"""Find the numbers that a text writes in digits, in English and in Chinese, and compare them.

Numbers are compared as written (2.10 is not 2.1), except that thousands separators do not matter, that scale
words are computed (1.2 万 = 12,000; 5k = 5000) and that dates are equal in every form. Small numbers may be
words: `3 workers` may be 三个工作进程, and `three workers` may be 3 个工作进程. Larger ones are digits.
"""

from __future__ import annotations

import re
from collections import Counter
from decimal import Decimal

_MONTHS = [
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
]  # fmt: skip
_MONTH = "|".join(f"{name}|{name[:3]}\\.?" for name in _MONTHS) + "|Sept\\.?"
_DATE = re.compile(rf"\b(\d{{1,2}})\s+({_MONTH})\b|\b({_MONTH})\s+(\d{{1,2}}\b(?!\d)|\d{{4}}\b)")
_ISO_DATE = re.compile(r"\b(\d{4})-(\d{2})(?:-(\d{2}))?\b(?!-?\d)")
_LIST_NUMBER = re.compile(r"^\s*\d+[.)]\s", re.MULTILINE)
_LETTER_SCALE = {"k": 10**3, "K": 10**3, "M": 10**6, "B": 10**9}
_ENGLISH_SCALE = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_CHINESE_SCALE = {"亿": 10**8, "万": 10**4, "千": 10**3, "百": 100}
_NUMBER = (
    r"(?P<sign>(?<![A-Za-z0-9.)\]\-])[-−])?"
    r"(?P<digits>\d{1,3}(?:[,\u00a0\u202f]\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)*)"
    r"(?P<power>[eE][-+−]?\d+(?!\w))?"
    r"(?:(?P<letter>[kKMB])(?![A-Za-z])|[ \u00a0\n-]?(?P<word>%s))?"
)
_ENGLISH = re.compile(_NUMBER % rf"(?:{'|'.join(_ENGLISH_SCALE)})\b")
# 千 and 百 that begin a unit (千克, 千米, 百分点) are no scale.
_CHINESE = re.compile(_NUMBER % r"亿|万|千(?![克米瓦字赫卡兆])|百(?!分)")
_SMALL = (
    "zero 零", "one first once 一", "two second twice both pair 二 两", "three third 三",
    "four fourth 四", "five fifth 五", "six sixth 六", "seven seventh 七",
    "eight eighth 八", "nine ninth 九", "ten tenth 十",
)  # fmt: skip
_WORDS = {word: str(value) for value, words in enumerate(_SMALL) for word in words.split()}
_WORDS |= {"twenty": "20", "thirty": "30", "sixty": "60", "hundred": "100", "thousand": "1000"}
_WORD = re.compile(r"[a-z]+|[\u4e00-\u9fff]")


def _plain_dates(text: str) -> str:
    """Write months and days of dates as bare numbers, so that every form of a date gives the same ones."""

    def month_number(name: str) -> str:
        return str([month[:3] for month in _MONTHS].index(name[:3]) + 1)

    def named(match: re.Match[str]) -> str:
        day, month, other_month, rest = match.groups()
        return f"{int(day)} / {month_number(month)} " if day else f"{month_number(other_month)} / {rest}"

    text = _DATE.sub(named, text)
    return _ISO_DATE.sub(lambda match: " / ".join(str(int(part)) for part in match.groups() if part), text)


def find_numbers(text: str, language: str) -> Counter[str]:
    """Return the numbers that `text`, without code, writes in digits, each in one normal form.

    `language`, "en" or "zh", decides which scale words count.
    """
    text = _LIST_NUMBER.sub("", _plain_dates(text))
    scales = _LETTER_SCALE | (_CHINESE_SCALE if language == "zh" else _ENGLISH_SCALE)
    found: Counter[str] = Counter()
    for match in (_CHINESE if language == "zh" else _ENGLISH).finditer(text):
        digits = re.sub(r"[,\u00a0\u202f]", "", match["digits"])
        power = (match["power"] or "").lower().replace("+", "").replace("−", "-")
        scale = scales.get(match["letter"] or match["word"] or "")
        if scale and digits.count(".") < 2:
            digits = format((Decimal(digits + power) * scale).normalize(), "f")
        else:
            digits += power
        found[("-" if match["sign"] else "") + digits] += 1
    return found


def spelled_numbers(text: str) -> set[str]:
    """Return the small numbers that `text` has in words: `three`, 三; also where 一 is a part of a word."""
    words = (word.removesuffix("s") for word in _WORD.findall(text.lower()))
    return {_WORDS[word] for word in words if word in _WORDS}


def compare_numbers(english: str, chinese: str, *, exact: bool = False) -> tuple[int, list[str]]:
    """Compare the numbers of two texts without code; return how many were compared, and what differs.

    With `exact` (table cells) every occurrence counts; otherwise repeating a number is free.
    """
    en, zh = find_numbers(english, "en"), find_numbers(chinese, "zh")
    compared = len(en | zh)
    if not exact:
        en, zh = Counter(set(en)), Counter(set(zh))
    missing = sorted(set(en - zh) - spelled_numbers(chinese))
    extra = sorted(set(zh - en) - spelled_numbers(english))
    defects = []
    if missing:
        defects.append(f"number of the English text missing in Chinese: {', '.join(missing)}")
    if extra:
        defects.append(f"number of the Chinese text missing in English: {', '.join(extra)}")
    return compared, defects
