"""Find the numbers that a text writes in digits, in English and in Chinese, and compare them.

Numbers are compared as written (2.10 is not 2.1), except that thousands separators do not matter, that scale
words are computed (1.2 万 = 12,000; 5k = 5000) and that dates are equal in every form. Chinese numerals and
English number words are free: `3 workers` may be 三个工作进程, and `three workers` may be 3 个工作进程.
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
_LIST_NUMBER = re.compile(r"^\s*\d+[.)]\s")
_MAY_PRECEDE_ITEM = re.compile(r"\s*$|\s+\S|(?:[-*+]|\d+[.)])\s")
_LETTER_SCALE = {"k": 10**3, "K": 10**3, "M": 10**6, "B": 10**9}
_ENGLISH_SCALE = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_CHINESE_SCALE = {
    "万亿": 10**12, "亿": 10**8, "千万": 10**7, "百万": 10**6,
    "十万": 10**5, "万": 10**4, "千": 10**3, "百": 100,
}  # fmt: skip
_NUMBER = (
    r"(?P<sign>(?<![A-Za-z0-9.)\]\-])[-−])?"
    r"(?P<digits>\d{1,3}(?:[,\u00a0\u202f]\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)*)"
    r"(?P<power>[eE][-+−]?\d+(?!\w))?"
    r"(?:(?P<letter>[kKMB])(?![A-Za-z])|[ \u00a0\n-]?(?P<word>%s))?"
)
_ENGLISH = re.compile(_NUMBER % rf"(?:{'|'.join(_ENGLISH_SCALE)})\b")
# 千 and 百 that begin a unit (千克, 千米, 百分点) are no scale.
_CHINESE = re.compile(_NUMBER % r"万亿|亿|千万|百万|十万|万|千(?![克米瓦字赫卡兆])|百(?!分)")
_NUMERAL = re.compile(r"[零〇一二两三四五六七八九十百千万亿]+")
# Words whose first or last character only looks like a numeral.
_NO_NUMERAL = re.compile(
    r"统一|一般|一样|一致|一旦|一直|一定|一些|唯一|单一|万一|进一步|十分|百分|千万不|三方"
)
_ONES = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_ORDINALS = [
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
]  # fmt: skip
_WORD = re.compile(
    rf"\b(?:({'|'.join(_TENS)})(?:[ -]({'|'.join(_ONES[1:10])}))?|({'|'.join(_ONES)}))\b", re.I
)
_OTHER_WORDS = {"once": 1, "twice": 2, "both": 2, "pair": 2, "dozen": 12, "hundred": 100, "thousand": 1000}
_OTHER_WORDS |= {word: number for number, word in enumerate(_ORDINALS, 1)}


def _plain_dates(text: str) -> str:
    """Write months and days of dates as bare numbers, so that every form of a date gives the same ones."""

    def month_number(name: str) -> str:
        return str(
            next(number for number, month in enumerate(_MONTHS, 1) if month.startswith(name.rstrip(".")))
        )

    def named(match: re.Match[str]) -> str:
        day, month, other_month, rest = match.groups()
        return f"{int(day)} / {month_number(month)} " if day else f"{month_number(other_month)} / {rest}"

    text = _DATE.sub(named, text)
    return _ISO_DATE.sub(lambda match: " / ".join(str(int(part)) for part in match.groups() if part), text)


def _without_list_numbers(text: str) -> str:
    """Drop the numbers of list items; a paragraph's line that begins with `15. ` keeps its number."""
    lines = text.split("\n")
    starts = [_MAY_PRECEDE_ITEM.match(previous) for previous in ["", *lines[:-1]]]
    return "\n".join(
        _LIST_NUMBER.sub("", line) if start else line for line, start in zip(lines, starts, strict=True)
    )


def find_numbers(text: str, language: str) -> Counter[str]:
    """Return the numbers that `text`, without code, writes in digits, each in one normal form.

    `language`, "en" or "zh", decides which scale words count.
    """
    text = _plain_dates(text.translate({ord("０") + digit: str(digit) for digit in range(10)}))
    text = _without_list_numbers(text)
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


def _numeral_value(numeral: str) -> int:
    """Return the value of a Chinese numeral such as 两千三百 or 二〇二六."""
    digits = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
    if not set(numeral) & set("十百千万亿"):
        return int("".join(str(digits[char]) for char in numeral))
    total = part = digit = 0
    for char in numeral:
        if char in digits:
            digit = digits[char]
        elif char in "十百千":
            part += (digit or 1) * {"十": 10, "百": 100, "千": 1000}[char]
            digit = 0
        else:
            total = (total + part + digit or 1) * {"万": 10**4, "亿": 10**8}[char]
            part = digit = 0
    return total + part + digit


def spelled_numbers(text: str, language: str) -> set[str]:
    """Return the numbers that `text` writes in words: Chinese numerals, or English up to ninety-nine."""
    if language == "zh":
        return {str(_numeral_value(match[0])) for match in _NUMERAL.finditer(_NO_NUMERAL.sub(" ", text))}
    found = set()
    for tens, unit, small in (match.groups() for match in _WORD.finditer(text)):
        if tens:
            value = 10 * (_TENS.index(tens.lower()) + 2) + (_ONES.index(unit.lower()) if unit else 0)
        else:
            value = _ONES.index(small.lower())
        found.add(str(value))
    words = set(re.findall(r"[a-z]+", text.lower()))
    return found | {str(value) for word, value in _OTHER_WORDS.items() if words & {word, word + "s"}}


def compare_numbers(english: str, chinese: str, *, exact: bool = False) -> tuple[int, list[str]]:
    """Compare the numbers of two texts without code; return how many were compared, and what differs.

    With `exact` (table cells) every occurrence counts; otherwise repeating a number is free.
    """
    en, zh = find_numbers(english, "en"), find_numbers(chinese, "zh")
    compared = len(en | zh)
    if not exact:
        en, zh = Counter(set(en)), Counter(set(zh))
    missing = sorted(set(en - zh) - spelled_numbers(chinese, "zh"))
    extra = sorted(set(zh - en) - spelled_numbers(english, "en"))
    defects = []
    if missing:
        defects.append(f"number of the English text missing in Chinese: {', '.join(missing)}")
    if extra:
        defects.append(f"number of the Chinese text missing in English: {', '.join(extra)}")
    return compared, defects
