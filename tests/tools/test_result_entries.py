"""Files with an entry for each machine: a new entry replaces that of its machine, and only that."""

import datetime

import torch
import yaml

from tools.result_entries import new_entry, store


def test_an_entry_replaces_the_one_that_is_the_same(tmp_path):
    path = tmp_path / "results.yaml"
    for system, device, value in (("a", "cpu", 1), ("a", "cuda", 2), ("b", "cpu", 3), ("a", "cpu", 4)):
        store({"system": system, "device": device, "value": value}, path, "# Made\n", ("system", "device"))
    assert [entry["value"] for entry in yaml.safe_load(path.read_text())] == [2, 3, 4]
    assert path.read_text().startswith("# Made\n")


def test_an_entry_says_where_when_and_how(monkeypatch):
    monkeypatch.setattr("sys.argv", ["tool", "--file", "with space"])
    entry = new_entry("tools.some", torch.device("cpu"))
    assert entry["command"] == "python -m tools.some --file 'with space'"
    assert (entry["device"], entry["date"]) == ("cpu", datetime.date.today())
    assert (
        entry["machine"]["chip"]
        and entry["cpu_threads"] >= 1
        and entry["versions"].keys() == {"torch", "python"}
    )
