"""The table of how often the search finds the right page, by kind of query."""

from collections.abc import Callable

from markdown_tables import Column, written
from origins import explained, load, origin

KINDS = {
    "all": {"en": "All held-out queries", "zh": "全部留出的查询"},
    "error": {"en": "Pasted error messages", "zh": "粘贴的报错信息"},
    "typed": {"en": "A few words", "zh": "几个词"},
    "question": {"en": "Questions", "zh": "提问"},
    "mixed": {"en": "Jargon", "zh": "中英混写和行话"},
    "misspelt": {"en": "Misspelt", "zh": "有错字"},
    "vague": {"en": "Vague", "zh": "含糊的说法"},
    "tuning": {"en": "For comparison: the queries it was tuned with", "zh": "对照：用来调整搜索的查询"},
}
SHARE = written(".0%")
COLUMNS = (
    Column("Queries", "查询", "kind", KINDS.__getitem__),
    Column("English: queries", "英文：条数", "en_queries"),
    Column("First result right", "第一个就对", "en_first", SHARE),
    Column("Among the first 3", "前 3 个里有", "en_first_3", SHARE),
    Column("Chinese: queries", "中文：条数", "zh_queries"),
    Column("First result right", "第一个就对", "zh_first", SHARE),
    Column("Among the first 3", "前 3 个里有", "zh_first_3", SHARE),
)


def found(language: str) -> str:
    """Return the shares of the held-out queries, and of those that the search was tuned with."""
    tuning, held_out = (
        next(entry for entry in load("search") if entry["set"] == name) for name in ("tuning", "held_out")
    )
    kinds = [kind for kind in KINDS if kind in held_out["en"]["kinds"]]
    sources = [("all", {name: held_out[name] for name in ("en", "zh")})]
    sources += [(kind, {name: held_out[name]["kinds"][kind] for name in ("en", "zh")}) for kind in kinds]
    sources += [("tuning", {name: tuning[name] for name in ("en", "zh")})]
    rows = [
        {"kind": kind}
        | {f"{name}_{key}": shares[name][key] for name in shares for key in ("queries", "first", "first_3")}
        for kind, shares in sources
    ]
    return explained(COLUMNS, rows, language, origin(held_out, language))


TABLES: dict[str, Callable[[str], str]] = {"search": found}
