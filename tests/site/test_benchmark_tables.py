"""The stored benchmarks: what their files say follows from their readings, and the tables show it."""

import json
import re
from pathlib import Path

import benchmark_files as files
import pytest
from data_tables import render
from indicator_sizes import measured_sizes

from examples.benchmarking.report import last_loss, losses_differ
from snippets.timing import spread
from tools.read_yaml import read_yaml

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "data" / "results"
FILES = sorted((RESULTS / "benchmarks").rglob("*.json"))
GPU_OF_THE_PAGE = "NVIDIA H200"
LARGE = "--data synthetic --image-size 32 --width 64 --batch-size 128"
MAC = {
    "chip": "Apple M4 Max",
    "cpu_cores": 16,
    "memory_gb": 68.7,
    "gpu": "40 GPU cores",
    "power": "AC Power",
    "tf32_convolutions": False,
    "variables": {},
}


@pytest.fixture(params=FILES, ids=lambda path: path.stem)
def content(request):
    return json.loads(request.param.read_text(encoding="utf-8"))


def test_every_stored_benchmark_is_shown():
    """Whoever adds a result of another training also says in which table it belongs."""
    tables = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs/data/tables").glob("*.yaml"))
    trainings = re.findall(r'benchmarks\("(\w+)"(?:, "([^"]+)")?\)', tables)
    shown = {found.path for training in trainings for found in files.of_training(*training)}
    shown |= {benchmark.path for found in measured_sizes() for benchmark in found.values()}
    assert shown == set(FILES) and len(FILES) >= 6
    assert all(path.parent.parent == files.FOLDER for path in FILES), "a folder for each machine"


def test_figures_follow_from_the_readings(content):
    measured = [row for row in content["rows"] if row["status"] == "measured"]
    assert measured
    for row in measured:
        found = spread(row["seconds"])
        assert (row["median_s"], row["low_s"], row["high_s"]) == pytest.approx(
            (found.median, found.low, found.high)
        )
        assert len(row["seconds"]) == content["plan"]["readings"]
        assert row["samples_per_s"] == pytest.approx(row["samples_per_step"] / found.median)
        assert row["speed_up"] == pytest.approx(row["samples_per_s"] / measured[0]["samples_per_s"])
        assert row["last_loss"] == pytest.approx(last_loss(row["losses"]))
        assert row["loss_differs"] is losses_differ(measured[0]["losses"], row["losses"])


def test_a_benchmark_says_where_it_comes_from(content):
    assert content["machine"]["chip"] and content["machine"]["cpu_cores"]
    source = content["provenance"]
    assert source["command"].startswith("python examples/benchmark.py ")
    assert re.fullmatch(r"[0-9a-f]{40}", source["git_commit"])
    assert source["torch"] and source["python"] and source["cpu_threads"]


def test_what_the_page_says_of_the_loop_without_figures():
    entries = read_yaml(RESULTS / "training_loop.yaml")
    found = [
        {"system": entry["system"], "device": entry["device"], "gpu": entry["machine"]["gpu"] or ""} | part
        for entry in entries
        for part in entry["overhead"]
    ]

    def of(system, **wanted):
        """Return the measurements of a system with these facts, on whatever machine."""
        wanted["system"] = system
        return [row for row in found if wanted.items() <= row.items()]

    def medians(rows):
        return [row["ratio"]["median"] for row in rows]

    def contain_1(rows):
        return all(row["ratio"]["low"] < 1 < row["ratio"]["high"] for row in rows)

    assert max(medians(of("cifar_optimizers", against="steps"))) < 1.02
    assert max(medians(of("indicator_transformer", against="bare"))) < 1.03
    towers = of("two_tower", against="steps")
    assert max(medians(row for row in towers if "H100" not in row["gpu"])) < 1.01
    assert 1.04 < max(medians(row for row in towers if "H100" in row["gpu"])) < 1.055
    assert contain_1(row for row in found if row["device"] == "cpu")
    (towers,) = of("two_tower", data="pages", against="bare")
    assert towers["simple"]["median"] / towers["steps"] < 0.01
    stages = [of(f"floorplan_diffusion/{name}", against="bare") for name in ("train_nodes", "train_edges")]
    assert all(map(contain_1, stages)) and len({round(ratio, 2) for ratio in medians(stages[0])}) == 1
    (bases,) = of("genomic_caduceus/pretrain", against="bare")
    classes, _ = of("genomic_caduceus/train", against="bare")
    more = [(row["real"]["median"] - row["simple"]["median"]) / row["steps"] for row in (bases, classes)]
    assert len({round(1e3 * seconds) for seconds in more}) == 1


def test_checkpoints_cost_what_the_page_says():
    entries = read_yaml(RESULTS / "training_loop.yaml")
    before_the_last = [found["share_before_the_last"] for entry in entries for found in entry["saving"]]
    assert len(before_the_last) >= 7 and max(before_the_last) < 0.01


def test_bf16_gains_what_the_page_says():
    """At the published sizes, outside of the images; the DNA classifier with compiling, too."""
    rows = read_yaml(RESULTS / "systems_on_gpu.yaml")["rows"]
    found = {
        row["options"]: {level["way"]: level["step_ms"]["median"] for level in row["levels"]} for row in rows
    }
    published = {name: times for name, times in found.items() if "origin" in name or "caduceus" in name}
    assert len(published) == 5
    assert max(times["cuda"] / times["cuda+bf16"] for times in published.values()) < 1.02
    assert all(times["cuda"] < times["cuda+bf16"] for name, times in published.items() if "floorplan" in name)
    (dna,) = (times for name, times in published.items() if name.startswith("genomic_caduceus/train "))
    assert 1 < dna["cuda"] / dna["cuda+bf16+compile"] < 1.05
    others = [times for name, times in published.items() if "floorplan" not in name]
    assert len(others) == 3 and {len(times) for times in others} == {5}
    assert 1.07 < max(times["cuda"] / min(times.values()) for times in others) < 1.075


def test_small_trainings_gain_nothing_from_bf16():
    """On the H100, at the default sizes; slower: the ranges of 10 % to 90 % do not overlap."""
    rows = read_yaml(RESULTS / "systems_on_h100.yaml")["rows"]
    found = [{level["way"]: level for level in row["levels"]} for row in rows]
    default = [levels for levels in found if "cpu" in levels]
    assert len(default) == 7
    assert all(levels["cuda"]["host"] == levels["cuda+bf16"]["host"] for levels in default)
    pairs = [(levels["cuda"]["step_ms"], levels["cuda+bf16"]["step_ms"]) for levels in default]
    assert all(fp32["median"] < bf16["median"] for fp32, bf16 in pairs)
    assert sum(fp32["high"] < bf16["low"] for fp32, bf16 in pairs) == 4
    tf32 = [
        (levels["cuda"]["step_ms"], levels["cuda+tf32"]["step_ms"])
        for levels in found
        if "cuda+tf32" in levels
    ]
    assert len(tf32) == 3
    assert all(fp32["low"] < rounded["median"] < fp32["high"] for fp32, rounded in tf32)


def test_usual_script_is_as_fast_as_float32():
    rows = read_yaml(RESULTS / "by_hand.yaml")["rows"]

    def rates(key, value):
        return {row["batch_size"]: row["images_per_s"] for row in rows if row.get(key) == value}

    ours, usual = rates("level", "cuda"), rates("loop", "plain")
    assert len(usual) == 2 and all(0.9 < ours[size] / usual[size] < 1.1 for size in usual)


def test_programs_against_single_files_as_the_page_says():
    rows = read_yaml(RESULTS / "single_files.yaml")["rows"]
    faster = [row["options"] for row in rows if row["speed"]["low"] > 1]
    assert faster == ["genomic_caduceus/train.py"]
    assert {row["steps"] for row in rows} <= set(range(2, 63))


def test_two_gpus_help_as_the_page_says():
    rows = read_yaml(RESULTS / "several_processes.yaml")["rows"]
    factors = [(row["options"], row["two"]["median"] / row["one"]["median"]) for row in rows]
    faster = {options.partition("/")[0] for options, factor in factors if factor > 1.8}
    assert faster == {"cifar_optimizers", "two_tower", "genomic_caduceus"}
    plans = [factor for options, factor in factors if options.startswith("floorplan")]
    assert len(plans) == 3 and max(plans) < 0.8


def of_the_page(words):
    """Return the result of the machine that the page speaks of."""
    found = files.of_training("cifar_optimizers", words)
    (page,) = [benchmark for benchmark in found if benchmark.content["machine"]["gpu"] == GPU_OF_THE_PAGE]
    return page


def on_a_mac(content):
    """Return the result of a made-up Mac: two levels measured, one failed, one that it does not have."""
    cpu, gpu = content["rows"][0], next(row for row in content["rows"] if row["level"] == "cuda")
    gpu = gpu | {"level": "mps", "median_s": 0.0125, "low_s": 0.012, "high_s": 0.013, "speed_up": 24.0}
    missing = {"batch_size": None, "workers": None}
    failed = missing | {"level": "mps+bf16", "status": "failed", "reason": "out of `memory`"}
    lacking = missing | {"level": "mps+bf16+compile", "status": "unavailable", "reason": "no compiler"}
    source = content["provenance"] | {"system": "macOS 26.1 arm64", "cpu_threads": 12, "torch": "2.15.0"}
    rows = [cpu, gpu, failed, lacking]
    return content | {"machine": MAC, "provenance": source | {"command": "python mac.py"}, "rows": rows}


@pytest.fixture
def with_a_mac(monkeypatch, tmp_path):
    """Lay a file of a Mac beside each of the page's machine, with its words in another order."""
    for benchmark in files.stored():
        if benchmark.content["machine"]["gpu"] != GPU_OF_THE_PAGE:
            continue
        content = on_a_mac(benchmark.content)
        words = content["words"]
        pairs = [words[place : place + 2] for place in range(0, len(words), 2)]
        content["words"] = [word for pair in reversed(pairs) for word in pair]
        for folder, written in (("server", benchmark.content), ("a-mac", content)):
            (tmp_path / folder).mkdir(exist_ok=True)
            (tmp_path / folder / benchmark.path.name).write_text(json.dumps(written), encoding="utf-8")
    monkeypatch.setattr(files, "FOLDER", tmp_path)


@pytest.mark.parametrize(
    "name", ["benchmark-cifar-digits", "benchmark-cifar-large", "benchmark-indicator-origin"]
)
def test_the_levels_of_a_mac_get_a_table(with_a_mac, name):
    english, chinese = (render(name, language).split("\n\n") for language in ("en", "zh"))
    assert len(english) == len(chinese) == 4, "a table and its origin for each machine"
    for table in (english[0], chinese[0]):
        lines = table.splitlines()
        assert [line.split(" | ")[0] for line in lines[2:]] == [
            "| `cpu`",
            "| `mps`",
            "| `mps+bf16`",
            "| `mps+bf16+compile`",
        ]
        assert lines[3].startswith("| `mps` | 12.5 | 12.0 ") and "24.00" in lines[3]
        assert lines[4:] == [
            f"| `{level}` | – | – | – | – | – | – | – |" for level in ("mps+bf16", "mps+bf16+compile")
        ]
    assert english[1].startswith(
        "Apple M4 Max, 40 GPU cores, 16 CPU cores, 12 threads, 64 GiB of memory, on mains power, macOS 26.1; "
        "PyTorch 2.15.0"
    )
    assert (
        "`mps+bf16` failed: `out of 'memory'`. `mps+bf16+compile` is not available here: `no compiler`."
        in (english[1])
    )
    assert (
        "`mps+bf16` 运行失败：`out of 'memory'`。`mps+bf16+compile` 在这里不可用：`no compiler`。"
        in chinese[1]
    )
    assert "TF32" not in english[1] and "/a-mac/" in english[1] and "/server/" in english[3]
    assert "| `cuda` |" in english[2]


def test_the_sizes_of_a_mac_get_a_table(with_a_mac):
    mac, origin, server, *_ = render("indicator-sizes", "en").split("\n\n")
    assert mac.splitlines()[0] == (
        "| Size | Parameters | Batch size | CPU, ms | GPU, ms | bf16, ms | Compiled too, ms | Best speed-up |"
    )
    assert mac.splitlines()[2] == "| `small` | 36,130 | 64 | 11.8 | 12.5 | – | – | 24 |"
    assert origin.count("failed: ") == 1 and "benchmarks/a-mac/`" in origin
    assert "| `large` | 152,558,978 | 16 | 3,204 | 47.8 | 35.3 | 24.5 | 131 |" in server
    assert "| 大小 | 参数量 | 批大小 | CPU，ms | GPU，ms | bf16，ms | 再加编译，ms |" in render(
        "indicator-sizes", "zh"
    )


def test_one_machine_may_measure_a_size_only_once(with_a_mac):
    path = next(iter(measured_sizes()[0].values())).path
    (path.parent / "z-again.json").write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(ValueError, match=r"z-again\.json: the same machine and training"):
        render("indicator-sizes", "en")


def changed(monkeypatch, tmp_path, change):
    """Store the large benchmark alone, its rows changed by a function."""
    content = of_the_page(LARGE).content
    change(content["rows"])
    (tmp_path / "a.json").write_text(json.dumps(content), encoding="utf-8")
    monkeypatch.setattr(files, "FOLDER", tmp_path)


def test_nan_loss_is_a_dash_with_a_note(monkeypatch, tmp_path):
    changed(monkeypatch, tmp_path, lambda rows: rows[1].update(last_loss=None, loss_differs=True))
    large = render("benchmark-cifar-large", "en")
    assert "| 1,220 | – |" in large and "`cuda`: the loss differs from that of the first level." in large


def test_a_sweep_is_not_a_table_of_levels(monkeypatch, tmp_path):
    changed(monkeypatch, tmp_path, lambda rows: rows.append(rows[1] | {"batch_size": 256}))
    with pytest.raises(ValueError, match="a level twice"):
        render("benchmark-cifar-large", "en")


@pytest.mark.parametrize(
    ("typed", "same"),
    [
        ("--size origin --batch-size 16", True),
        ("--batch-size=16 --size origin", True),
        ("--size origin --batch-size 32", False),
        ("--size origin --batch-size 16 --resident", False),
    ],
)
def test_options_are_compared_whatever_their_order(typed, same):
    wanted = files.options(["--size", "origin", "--batch-size", "16"])
    assert (files.options(typed.split()) == wanted) is same
