"""Runs over seeds are started as their file says and gathered; commands take turns."""

import json
import shlex

import pytest
import yaml

from tools.measuring import measure as tool
from tools.measuring.result_entries import RESULTS
from tools.read_yaml import read_yaml

TRAIN = """
import json, pathlib, sys
*options, seed, out = sys.argv[1:]
out = pathlib.Path(out)
out.mkdir(parents=True)
summary = {"score": 0.1234567 * int(seed), "parts": {"a": int(seed)}, "options": options}
(out / "summary.json").write_text(json.dumps(summary))
(out / "metrics.jsonl").write_text('{"step": 1, "loss": 2.0, "lr": 3}\\n{"step": 2, "loss": null}\\n')
"""
OLD = "tools/measuring/old.py at a1b2c3d"


@pytest.mark.program
def test_every_run_and_seed_is_measured_and_stored(tmp_path):
    script, path = tmp_path / "train.py", tmp_path / "results.yaml"
    script.write_text(TRAIN)
    content = {
        "machine": {"cpu_cores": 1, "shared": True},
        "seeds": [2, 3],
        "commands": [f"python {script} {{kind}} {{options}} {{seed}} {{out}}"],
        "keep": {"score": "summary.json score", "parts": "summary.json parts"},
        "once": {"curve": "metrics.jsonl step loss"},
        "runs": [
            {"id": "first", "kind": "k", "options": ["--lr", "1"]},
            {"kind": "k", "options": ["{runs}/first/{seed}"], "keep": {"words": "summary.json options"}},
            {"kind": "k", "options": [], "score": [5], "program": OLD},
        ],
        "command": "python -m tools.measuring.old",
        "program": OLD,
    }
    path.write_text("# By hand: all.\n# More.\n" + yaml.safe_dump(content, sort_keys=False))
    tool.measure_runs(path, "cpu", "python -m new")
    assert path.read_text().startswith("# By hand: all.\n# More.\nmachine:")
    found = yaml.safe_load(path.read_text())
    first, second, third = found["runs"]
    assert (first["score"], first["parts"]) == ([0.24691, 0.37037], {"a": [2, 3]})
    assert first["curve"] == [{"step": 1, "loss": 2.0}, {"step": 2}]
    assert [words[1].split("/")[-2:] for words in second["words"]] == [["first", "2"], ["first", "3"]]
    assert "score" not in second
    assert third == content["runs"][2]
    assert found["command"] == "python -m new" and "program" not in found
    assert found["machine"]["shared"] and found["machine"]["cpu_threads"]


@pytest.mark.long
@pytest.mark.program
@pytest.mark.parametrize("name", ["cifar_digits", "genomic_runs", "two_tower_pages"])
def test_the_measured_trainings_start_and_leave_what_is_kept(name, tmp_path):
    """With a training of a few steps."""
    content = read_yaml(RESULTS / f"{name}.yaml")
    few = ["epochs=1", "max_steps=2"] if name == "genomic_runs" else ["--epochs", "1", "--max-steps", "2"]
    run = content["runs"][0]
    again = {key: value for key, value in run.items() if key in ("id", "script", "keep", "once")}
    again["options"] = run["options"] + few
    tool.measure_run(again, content | {"seeds": [7], "runs": [again]}, tmp_path, "cpu")
    summary = json.loads(next(tmp_path.rglob("summary.json")).read_text())
    assert (summary["steps"], summary["options"]["seed"]) == (2, 7)
    assert again.keys() <= run.keys()
    assert again.keys() >= run.keys() - {"name", "metrics"}


@pytest.mark.program
def test_commands_take_turns(tmp_path):
    wait, path = "python -c 'import time; time.sleep({})'", tmp_path / "turns.yaml"
    words = ["turns", wait.format(0), wait.format(0.5), "--rounds", "2", "--file", str(path)]
    assert tool.main(words) == 0
    (entry,) = read_yaml(path)
    short, long = entry["rows"]
    assert short["ratio"] == {"median": 1, "low": 1, "high": 1}
    assert long["ratio"]["median"] > 2 and long["seconds"]["low"] > 0.5
    assert shlex.split(entry["command"]) == ["python", "-m", "tools.measuring.measure", *words]
    assert (entry["device"], entry["rounds"]) == ("cpu", 2)
