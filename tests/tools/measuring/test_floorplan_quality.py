"""The tool that measures drawn floor plans: what stands in its files, and that it runs."""

import numpy
import pytest
import yaml

from examples.floorplan_diffusion.generated_plans import generate_plans
from examples.floorplan_diffusion.plans import KINDS, Plan
from examples.floorplan_diffusion.train_edges import PROGRAM as EDGES
from examples.floorplan_diffusion.train_nodes import PROGRAM as NODES
from tools.measuring import floorplan_quality as tool

QUICK = ["--quick", "--device", "cpu", "--plans", "160", "--max-steps", "2"]


def plan(*places):
    corners = numpy.array(places, dtype=float)
    return Plan(corners, numpy.zeros((len(corners), len(KINDS)), dtype=bool), numpy.zeros((0, 2), dtype=int))


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("/a/python /b/train_nodes.py", "train_nodes.py"),
        ("python train_nodes.py --out '/x y/z' --seed 1", "train_nodes.py --seed 1"),
        ("/a/python -u b/train_edges.py --lr 1e-3 --resume /c", "train_edges.py --lr 1e-3"),
    ],
)
def test_a_command_names_no_folder_of_the_machine(command, shown):
    system = f"floorplan_diffusion/{shown.partition('.')[0]}"
    assert tool.training_command(system, command) == f"python examples/floorplan_diffusion/{shown}"


def test_corners_in_line_are_counted():
    found = tool.lines_of([plan((0, 0), (1, 50), (90, 1)), plan((7, 7))])
    assert found == {
        "in_line": pytest.approx(1 / 3),
        "line_mean": pytest.approx((1 + 49 + 89) / 3),
        "line_median": 49,
    }
    assert numpy.isnan(tool.lines_of([plan((7, 7))])["in_line"])


def test_scattered_corners_are_as_many_in_the_same_part_and_in_no_line():
    plans = list(generate_plans(40, 0))
    random = tool.scattered(plans)
    assert [one.corners.shape for one in random] == [one.corners.shape for one in plans]
    assert all((b.corners >= a.corners.min(0)).all() for a, b in zip(plans, random, strict=True))
    assert tool.lines_of(plans) == {"in_line": 1.0, "line_mean": 0.0, "line_median": 0.0}
    assert tool.lines_of(random)["in_line"] < 0.2


@pytest.fixture
def runs(tmp_path):
    """Return the folders of two runs of two steps."""
    for program, name in ((NODES, "nodes"), (EDGES, "edges")):
        assert program.main([*QUICK, "--out", str(tmp_path / name)]) == 0
    return tmp_path / "nodes", tmp_path / "edges"


def test_every_sampler_has_a_row_and_the_same_noise_draws_the_same_plans(runs, tmp_path, monkeypatch):
    monkeypatch.setattr(tool, "SAMPLERS", (("ddpm", 5), ("ddim", 3), ("ddpm", 5)))
    path, (nodes, edges) = tmp_path / "quality.yaml", runs
    arguments = ["--nodes", str(nodes), "--edges", str(edges), "--device", "cpu", "--count", "5"]
    assert tool.main([*arguments, "--batch-size", "3", "--out", str(path)]) == 0
    text = path.read_text(encoding="utf-8")
    (entry,) = yaml.safe_load(text)
    assert str(tmp_path) not in text
    assert [(row["sampler"], row["steps"]) for row in entry["samplers"]] == list(tool.SAMPLERS)
    first, other, again = (
        {name: value for name, value in row.items() if name != "seconds"} for row in entry["samplers"]
    )
    assert first == again and first != other
    assert entry["nodes"]["steps"] == entry["edges"]["steps"] == 2
    assert entry["data"]["closed"] == entry["data"]["in_line"] == 1
    assert tool.main([*arguments, "--name", "other", "--out", str(path)]) == 0
    assert [one["name"] for one in yaml.safe_load(path.read_text(encoding="utf-8"))] == ["default", "other"]


@pytest.mark.long
def test_an_ablation_has_a_figure_of_each_seed(runs, tmp_path, monkeypatch):
    monkeypatch.setattr(tool, "ABLATION", {"all": [], "no_focus": tool.ABLATION["no_focus"]})
    monkeypatch.setattr(tool, "SAMPLERS", ())
    monkeypatch.setattr(tool, "ABLATION_STEPS", 4)
    monkeypatch.setattr(tool, "SMALL", QUICK[:1] + QUICK[3:])
    path = tmp_path / "ablation.yaml"
    arguments = [
        "--ablation",
        "--edges",
        str(runs[1]),
        "--device",
        "cpu",
        "--count",
        "4",
        "--seeds",
        "0",
        "3",
    ]
    assert tool.main([*arguments, "--out", str(path)]) == 0
    (entry,) = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert entry["seeds"] == [0, 3]
    assert [row["name"] for row in entry["rows"]] == ["all", "no_focus"]
    losses = [loss for row in entry["rows"] for loss in row["val_loss"]]
    assert len(losses) == len(set(losses)) == 4, "seeds and options change what is learned"
    assert entry["rows"][1]["options"] == ["--focus", "1"]
