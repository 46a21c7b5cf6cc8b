"""No kind of query is without a name in the table of the search, and none was tuned with."""

from tools.measuring.search import ROOT, SETS
from tools.read_yaml import read_yaml


def test_every_kind_of_query_has_a_row():
    words = read_yaml(ROOT / "docs/data/tables/search.yaml")["words"]
    for name in SETS:
        queries = read_yaml(ROOT / f"docs/data/search/{name}.yaml")
        kinds = {entry["kind"] for entries in queries.values() for entry in entries}
        assert kinds <= words["kinds"].keys()


def test_no_held_out_query_was_there_to_tune_with():
    held_out, tuning = (read_yaml(ROOT / f"docs/data/search/{name}.yaml") for name in ("held_out", "tuning"))
    for language, entries in held_out.items():
        known = {entry["query"] for entry in tuning[language]}
        assert len(entries) >= 40
        assert [entry["query"] for entry in entries if entry["query"] in known] == []
