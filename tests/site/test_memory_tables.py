"""The table of batch sizes has those of every machine."""

import json

import benchmark_files
from data_tables import render


def test_a_sweep_of_another_machine_is_one_file(tmp_path, monkeypatch):
    (large,) = benchmark_files.of_training(
        "cifar_optimizers", "--data synthetic --image-size 32 --width 64 --batch-size 128"
    )
    rows = [large.rows[1] | {"batch_size": 8}, {"batch_size": 64, "status": "failed", "reason": "no memory"}]
    content = large.content | {
        "words": ["--width=64", "--image-size", "32", "--data=synthetic"],
        "rows": rows,
    }
    (tmp_path / "sweep.json").write_text(json.dumps(content), encoding="utf-8")
    monkeypatch.setattr(benchmark_files, "FOLDER", tmp_path)
    first, *_, second, where = render("memory-sweep", "en").split("\n\n")
    assert "| 2048 | 88.5 | 23,143 | 15,555 MB | 10,072 MB |" in first
    assert second.splitlines()[2:] == ["| 8 | 7.4 | 17,297 | 1,220 MB | 870 MB |", "| 64 | – | – | – | – |"]
    assert large.content["provenance"]["command"] in where
