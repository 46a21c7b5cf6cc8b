"""No kind of query is without a name in the table of the search, and none was tuned with."""

import yaml

from tools.measuring.search import ROOT, SETS


def test_every_kind_of_query_has_a_row():
    words = yaml.safe_load((ROOT / "docs/data/tables/search.yaml").read_text(encoding="utf-8"))["words"]
    for name in SETS:
        queries = yaml.safe_load((ROOT / f"docs/data/search/{name}.yaml").read_text(encoding="utf-8"))
        kinds = {entry["kind"] for entries in queries.values() for entry in entries}
        assert kinds <= words["kinds"].keys()


def test_no_held_out_query_was_there_to_tune_with():
    held_out, tuning = (
        yaml.safe_load((ROOT / f"docs/data/search/{name}.yaml").read_text(encoding="utf-8"))
        for name in ("held_out", "tuning")
    )
    for language, entries in held_out.items():
        known = {entry["query"] for entry in tuning[language]}
        assert len(entries) >= 80
        assert [entry["query"] for entry in entries if entry["query"] in known] == []
