"""The table of the search shows the shares of both sets, and no kind of query is without a name."""

import search_tables
import yaml

from tools.measuring.search import ROOT, SETS


def test_rows(monkeypatch):
    def shares(first: float, near: float) -> dict:
        return {"queries": 40, "first": first, "first_3": near}

    machine = {"machine": {"system": "Linux x86_64", "cpu_cores": 2}, "versions": {}, "date": "2026-11-22"}
    entries = [
        {"set": name, **machine} | {language: shares(first, near) | {"kinds": {"vague": shares(0.25, 0.5)}}}
        for name, language, first, near in [("tuning", "en", 0.9, 1.0), ("held_out", "en", 0.804, 0.9)]
    ]
    for entry in entries:
        entry["zh"] = entry["en"]
    monkeypatch.setattr(search_tables, "load", lambda name: entries)
    rows = search_tables.found("en").splitlines()[2:5]
    assert rows[0] == "| All held-out queries | 40 | 80% | 90% | 40 | 80% | 90% |"
    assert rows[1] == "| Vague | 40 | 25% | 50% | 40 | 25% | 50% |"
    assert rows[2].endswith("| 40 | 90% | 100% | 40 | 90% | 100% |")


def test_every_kind_of_query_has_a_row():
    for name in SETS:
        queries = yaml.safe_load((ROOT / f"docs/data/search/{name}.yaml").read_text(encoding="utf-8"))
        kinds = {entry["kind"] for entries in queries.values() for entry in entries}
        assert kinds <= search_tables.KINDS.keys() - {"all", "tuning"}


def test_no_held_out_query_was_there_to_tune_with():
    held_out, tuning = (
        yaml.safe_load((ROOT / f"docs/data/search/{name}.yaml").read_text(encoding="utf-8"))
        for name in ("held_out", "tuning")
    )
    for language, entries in held_out.items():
        known = {entry["query"] for entry in tuning[language]}
        assert len(entries) >= 80
        assert [entry["query"] for entry in entries if entry["query"] in known] == []
