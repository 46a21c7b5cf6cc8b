"""Files with an entry for each machine: a new entry replaces that of its machine, and only that."""

import datetime

import torch
import yaml

from tools.measuring.result_entries import origin, store


def test_an_entry_replaces_the_one_that_is_the_same(tmp_path):
    path = tmp_path / "results.yaml"
    for system, device, value in (("a", "cpu", 1), ("a", "cuda", 2), ("b", "cpu", 3), ("a", "cpu", 4)):
        store({"system": system, "device": device, "value": value}, path, "# Made\n", ("system", "device"))
    assert [entry["value"] for entry in yaml.safe_load(path.read_text())] == [2, 3, 4]
    assert path.read_text().startswith("# Made\n")


def test_notes_stay_and_each_machine_has_its_entry(tmp_path):
    path = tmp_path / "results.yaml"
    path.write_text("- {device: cpu, machine: {cpu_cores: 2, shared: true, busy: false}, value: 1}\n")
    for cores, value in ((2, 2), (4, 3)):
        entry = {"device": "cpu", "machine": {"chip": "a", "cpu_cores": cores}, "value": value}
        store(entry, path, "")
    assert yaml.safe_load(path.read_text()) == [
        {
            "device": "cpu",
            "machine": {"chip": "a", "cpu_cores": 2, "shared": True, "busy": False},
            "value": 2,
        },
        {"device": "cpu", "machine": {"chip": "a", "cpu_cores": 4}, "value": 3},
    ]


def test_an_entry_says_where_when_and_how():
    entry = origin("python -m tools.some")
    assert (entry["command"], entry["date"]) == ("python -m tools.some", datetime.date.today())
    machine = entry["machine"]
    assert machine["chip"] and machine["system"] and machine["cpu_threads"] == torch.get_num_threads()
    assert entry["versions"].keys() == {"torch", "python"}
