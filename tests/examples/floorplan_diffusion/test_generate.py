"""Drawing plans: what is written, that a stopped drawing goes on with the same plans, and what is refused."""

import dataclasses
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy
import pytest
import torch

from examples.floorplan_diffusion import generate, generate_job, sampled_corners
from examples.floorplan_diffusion.data_sources import load_splits, load_test
from examples.floorplan_diffusion.drawing import gallery
from examples.floorplan_diffusion.generate_options import read_command_line, resolve
from examples.floorplan_diffusion.generated_plans import generate_plans
from examples.floorplan_diffusion.open_forms import read_drawings, to_plans
from examples.floorplan_diffusion.plan_files import read_plans, write_splits
from examples.floorplan_diffusion.rooms import straightened
from examples.floorplan_diffusion.sampled_corners import load_batch, real_corners
from examples.floorplan_diffusion.trained import EDGES, NODES, load_trained
from examples.programs.run_folder import only_process, read_json
from snippets.errors import UsageError
from snippets.untrusted_checkpoints import tensors_crc32
from tests.examples.floorplan_diffusion.data_files import assert_equal
from tests.examples.program_runs import assert_refused, contents

PROGRAM = Path(generate.__file__)
STAGES = "nodes", "edges"
SMALL = "--count=6", "--batch-size=2", "--sampler=ddim", "--steps=4", "--threshold=0.7"


def plans_and_batches(folder):
    """Return the content of the files that say what was drawn."""
    found = [folder / "plans.npz", *sorted((folder / "batches").iterdir())]
    assert len(found) == 4
    return [path.read_bytes() for path in found]


@pytest.fixture(scope="module")
def without_a_stop(tiny_runs, tmp_path_factory):
    """Draw six plans; return the folder."""
    folder = tmp_path_factory.mktemp("whole") / "plans"
    runs = [f"--nodes={tiny_runs / NODES.runs / 'first'}", f"--edges={tiny_runs / EDGES.runs / 'first'}"]
    assert generate.main([*SMALL, *runs, "--device=cpu", f"--out={folder}"]) == 0
    return folder


@pytest.fixture
def stop_in_batch(monkeypatch):
    """Return a function that sends this process a signal in the middle of a batch, counted from 0."""
    original = sampled_corners.sample

    def arrange(wanted, number=signal.SIGINT):
        batches = iter(range(100))

        def sample(*arguments, **settings):
            batch = next(batches)
            for count, found in enumerate(original(*arguments, **settings)):
                if (batch, count) == (wanted, 2):
                    signal.raise_signal(number)
                yield found

        monkeypatch.setattr(sampled_corners, "sample", sample)
        return lambda: monkeypatch.setattr(sampled_corners, "sample", original)

    return arrange


# ---- What is written ----


def test_plans_are_readable_and_match_the_batches(without_a_stop):
    plans = list(read_plans(without_a_stop / "plans.npz"))
    nodes = [
        one
        for index in range(3)
        for one in numpy.load(without_a_stop / "batches" / f"{index:04d}.npz")["nodes"]
    ]
    assert len(plans) == len(nodes) == 6
    for plan, one in zip(plans, nodes, strict=True):
        real = (one[:, 9] + 1) / 2 < 0.7
        places = numpy.clip(numpy.round((one[real, :2] + 1) * 128), 0, 255)
        assert sorted(map(tuple, plan.corners.tolist())) == sorted(set(map(tuple, places.tolist())))
    assert any(len(plan.walls) for plan in plans)


def test_figures_say_what_was_drawn_and_how(without_a_stop, tiny_runs):
    found = read_json(without_a_stop / "metrics.json")
    config = read_json(without_a_stop / "config.json")
    checkpoint = {
        stage: str(tiny_runs / stage.runs / "first" / "checkpoints" / "best.pt") for stage in (NODES, EDGES)
    }
    assert found["options"] == {
        "nodes": checkpoint[NODES],
        "edges": checkpoint[EDGES],
        "count": 6,
        "batch_size": 2,
        "sampler": "ddim",
        "steps": 4,
        "threshold": 0.7,
        "seed": 0,
    }
    assert found["nodes_crc32"] == tensors_crc32(
        load_trained(NODES, Path(checkpoint[NODES])).network.state_dict().values()
    )
    begun_with = {name: value for name, value in config.items() if name != "provenance"}
    assert {name: found[name] for name in begun_with} == begun_with
    assert found["provenance"]["torch"] == torch.__version__
    assert (found["sampled"], found["drawn"]["plans"], found["data"]["plans"]) == (6, 6, 8)
    assert found["data"]["line_distance"] == found["data"]["axis_distance"] == 0
    assert found["data"]["closed"] == 1
    plans = list(read_plans(without_a_stop / "plans.npz"))
    assert found["drawn"]["corners"] == sum(len(plan.corners) for plan in plans) / 6


def test_pictures_are_whole(without_a_stop):
    svgs = sorted(path.relative_to(without_a_stop).as_posix() for path in without_a_stop.rglob("*.svg"))
    assert svgs == ["gallery.svg", *(f"plans/{index:04d}.svg" for index in range(6)), "steps.svg"]
    for name in svgs:
        root = ElementTree.parse(without_a_stop / name).getroot()
        assert root.tag == "{http://www.w3.org/2000/svg}svg" and len(root) > 2
    for name in ("gallery.png", "steps.png"):
        content = (without_a_stop / name).read_bytes()
        assert content.startswith(b"\x89PNG\r\n\x1a\n") and content.endswith(b"IEND\xaeB`\x82")
    titles = (without_a_stop / "steps.svg").read_text()
    moments = re.findall(r">(step [\d,]+|corners|with walls)<", titles)
    assert moments == ["step 1,000", "step 667", "step 334", "step 1", "corners", "with walls"]


def test_newest_runs_are_taken_and_folder_names_unique(call, both_stages):
    shutil.copytree(both_stages / NODES.runs / "first", both_stages / NODES.runs / "second")
    os.utime(both_stages / NODES.runs / "second" / "config.json", (4e9, 4e9))
    for _ in range(2):  # in the same second
        done = call(*SMALL)
        assert (done.code, done.err) == (0, "")
        assert f"stage 1    {NODES.runs / 'second' / 'checkpoints' / 'best.pt'}, step " in done.out
        assert f"stage 2    {EDGES.runs / 'first' / 'checkpoints' / 'best.pt'}, step " in done.out
    folders = list((both_stages / "runs/floorplan_diffusion/generate").iterdir())
    assert len(folders) == 2
    assert plans_and_batches(folders[0]) == plans_and_batches(folders[1])


def test_the_table_is_aligned(call):
    lines = call(*SMALL, "--out=plans").out.splitlines()
    table = [line for line in lines if not re.match(r"[a-z]+( \d)? {3,}", line)]
    assert table[0].split() == ["drawn", "data", "random"]
    assert len(table) == 8 and len({len(line) for line in table}) == 1, table
    assert table[1].startswith("corners off the lines in x and y (px) ") and re.search(
        r" 0\.00 +\d+\.\d\d$", table[1]
    )
    assert table[7].endswith("–")


# ---- What decides the plans ----


def test_another_seed_gives_other_plans(call, without_a_stop, both_stages):
    assert call(*SMALL, "--out=other", "--seed=1").code == 0
    pairs = zip(plans_and_batches(both_stages / "other"), plans_and_batches(without_a_stop), strict=True)
    assert all(one != other for one, other in pairs)


def test_no_two_batches_begin_with_the_same_noise(without_a_stop):
    first, second, third = (
        numpy.load(without_a_stop / "batches" / f"{index:04d}.npz")["way"][0] for index in range(3)
    )
    assert abs(first - second).min() > 0 and abs(second - third).min() > 0


def test_steps_follow_from_the_sampler():
    assert resolve(read_command_line([])).steps == 1000
    assert resolve(read_command_line([])).eta == 1
    assert resolve(read_command_line(["--sampler", "ddim"])).steps == 50
    assert resolve(read_command_line(["--sampler", "ddim"])).eta == 0
    assert resolve(read_command_line(["--sampler", "ddim", "--steps", "7"])).steps == 7


def test_the_threshold_decides_what_is_a_corner():
    nodes = numpy.zeros((4, 10), dtype=numpy.float32)
    nodes[:, 9] = -1, -0.02, 0.02, 0.6  # 0, 0.49, 0.51 and 0.8 of the way from a corner to none
    assert real_corners(nodes).tolist() == [True, True, False, False]
    assert real_corners(nodes, 0.75).tolist() == [True, True, True, False]
    assert real_corners(nodes, 0.1).tolist() == [True, False, False, False]
    nodes[:, 9] = -1, 0, 1, 1  # sampling ends with numbers cut off at -1 and 1
    assert [real_corners(nodes, share).sum() for share in (0, 0.5, 1)] == [0, 1, 2]


# ---- Stopped, and gone on with ----


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("how", ["auto", "plans"])
def test_a_stopped_drawing_goes_on_with_the_same_plans(
    call, stop_in_batch, without_a_stop, both_stages, number, how
):
    again = stop_in_batch(1, number)
    stopped = call(*SMALL, "--out=plans")
    assert (stopped.code, stopped.err) == (128 + number, "")
    line = stopped.out.splitlines()[-1]
    assert line.startswith(f"stopped by {number.name}; finished batches are kept. To go on: python ")
    assert line.endswith(" --resume plans")
    assert sorted(path.name for path in (both_stages / "plans").iterdir()) == ["batches", "config.json"]
    assert [path.name for path in (both_stages / "plans" / "batches").iterdir()] == ["0000.npz"]
    again()
    done = call(*["--resume=auto", "--out=plans"] if how == "auto" else ["--resume=plans"])
    assert (done.code, done.err) == (0, "")
    assert "note       going on in plans\n" in done.out and "sampled    4 plans in " in done.out
    assert plans_and_batches(both_stages / "plans") == plans_and_batches(without_a_stop)


@pytest.mark.program
def test_a_killed_drawing_goes_on_with_the_same_plans(call, without_a_stop, both_stages, one_thread):
    """It dies in the middle of writing its second batch."""
    program = (
        "import os, sys\n"
        "from examples.floorplan_diffusion import generate, generate_job, sampled_corners\n"
        "save, writes = sampled_corners.replace_file, []\n"
        "def replace_file(path, write):\n"
        "    writes.append(path)\n"
        "    if len(writes) == 2:\n"
        "        write = lambda file: (file.write(b'PK'), file.flush(), os.kill(os.getpid(), 9))\n"
        "    save(path, write)\n"
        "sampled_corners.replace_file = replace_file\n"
        "generate.main(sys.argv[1:])\n"
    )
    root = str(PROGRAM.parents[2])
    words = [sys.executable, "-c", program, *SMALL, "--out=plans", "--device=cpu"]
    killed = subprocess.run(words, env=one_thread | {"PYTHONPATH": root}, stdout=subprocess.DEVNULL)
    assert killed.returncode == -signal.SIGKILL
    left = sorted(path.name for path in (both_stages / "plans" / "batches").iterdir())
    assert len(left) == 2 and left[1] == "0000.npz" and left[0].startswith(".0001.npz.")
    done = call("--resume=plans")
    assert done.code == 0 and "sampled    4 plans in " in done.out
    assert plans_and_batches(both_stages / "plans") == plans_and_batches(without_a_stop)


def test_auto_finds_the_unfinished_one_with_these_options(call, stop_in_batch, both_stages):
    again = stop_in_batch(1)
    assert call(*SMALL).code == 130
    (folder,) = (both_stages / "runs/floorplan_diffusion/generate").iterdir()
    again()
    other = call(*SMALL, "--seed=1", "--resume=auto")
    assert "note       no unfinished run with these options: starting anew\n" in other.out
    done = call(*SMALL, "--resume=auto")
    assert f"note       going on in {folder.relative_to(both_stages)}\n" in done.out
    finished = contents(folder)
    anew = call(*SMALL, "--resume=auto")
    assert "note       no unfinished run with these options: starting anew\n" in anew.out
    assert contents(folder) == finished


@pytest.mark.parametrize("words", [["--resume=auto", "--out=plans"], ["--resume=plans"]])
def test_only_one_process_draws_in_a_folder(call, without_a_stop, both_stages, words):
    shutil.copytree(without_a_stop, both_stages / "plans")
    before = contents(both_stages)
    with only_process(both_stages / "plans", "drawing"):
        assert_refused(call(*words), "another process is drawing in plans; use another --out\n")
    assert contents(both_stages) == before


def test_what_another_process_begins_meanwhile_is_gone_on_with(
    call, without_a_stop, both_stages, monkeypatch
):
    """Loading the networks takes seconds; what a killed process has left in the folder is removed."""
    folder, load = both_stages / "plans", generate_job.load_job
    leftovers = [folder / place / ".0004.svg.999999999.tmp" for place in ("", "plans", "batches")]

    def load_job(values):
        if not folder.exists():
            shutil.copytree(without_a_stop, folder)
            for path in leftovers:
                path.write_text("half")
        return load(values)

    monkeypatch.setattr(generate_job, "load_job", load_job)
    runs = [f"--{stage}={read_json(without_a_stop / 'config.json')['options'][stage]}" for stage in STAGES]
    done = call(*SMALL, *runs, "--resume=auto", "--out=plans")
    assert (done.code, done.err) == (0, "")
    assert "note       going on in plans\n" in done.out and "sampled    0 plans in " in done.out
    assert not any(path.exists() for path in leftovers)


@pytest.mark.parametrize("damage", ["shorter", "changed", "empty", "other places", "gone"])
def test_a_damaged_batch_is_drawn_again(call, without_a_stop, both_stages, damage):
    shutil.copytree(without_a_stop, both_stages / "plans")
    path = both_stages / "plans" / "batches" / "0001.npz"
    content = path.read_bytes()
    if damage == "shorter":
        path.write_bytes(content[:-30])
    elif damage == "changed":
        path.write_bytes(content[:300] + bytes([content[300] ^ 1]) + content[301:])
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage == "other places":
        with numpy.load(path) as file:
            arrays = {name: file[name][..., :5, :] if file[name].ndim > 1 else file[name] for name in file}
        numpy.savez(path, **arrays)
    else:
        path.unlink()
    done = call("--resume=plans")
    assert done.code == 0 and "sampled    2 plans in " in done.out
    assert plans_and_batches(both_stages / "plans") == plans_and_batches(without_a_stop)


def test_no_damage_of_a_batch_is_taken_for_plans(without_a_stop, tmp_path):
    source, path = without_a_stop / "batches" / "0000.npz", tmp_path / "batch.npz"
    content, nodes = source.read_bytes(), numpy.load(source)["nodes"]
    assert numpy.array_equal(load_batch(source, nodes.shape[:2]).nodes, nodes)
    random = numpy.random.default_rng(0)
    refused = 0
    for position in random.integers(0, len(content), 300).tolist():
        path.write_bytes(content[:position] + bytes([content[position] ^ 0x41]) + content[position + 1 :])
        batch = load_batch(path, nodes.shape[:2])
        refused += batch is None
        assert batch is None or numpy.array_equal(batch.nodes, nodes)
    assert refused > 200


@pytest.mark.parametrize(
    ("option", "flag", "before"),
    [
        ("--seed=1", "--seed", 0),
        ("--count=7", "--count", 6),
        ("--batch-size=3", "--batch-size", 2),
        ("--sampler=ddpm", "--sampler", "ddim"),
        ("--steps=5", "--steps", 4),
        ("--threshold=0.5", "--threshold", 0.7),
    ],
)
def test_another_option_is_refused_when_going_on(call, without_a_stop, both_stages, option, flag, before):
    shutil.copytree(without_a_stop, both_stages / "plans")
    earlier = contents(both_stages / "plans")
    message = (
        f"error: {flag} is {option.partition('=')[2]} here but {before} in the run in plans; leave it out"
    )
    assert_refused(call("--resume=plans", option), message)
    assert_refused(call("--resume=auto", "--out=plans", option), message)
    assert contents(both_stages / "plans") == earlier


def test_other_networks_are_refused_when_going_on(call, both_stages):
    assert call(*SMALL, "--out=plans").code == 0
    run = shutil.copytree(both_stages / NODES.runs / "first", both_stages / "elsewhere")
    assert_refused(call("--resume=plans", f"--nodes={run}"), "error: --nodes is ")
    path = both_stages / NODES.runs / "first" / "checkpoints" / "best.pt"
    content = torch.load(path, weights_only=True)
    content["model"]["average.place.0.bias"][3] += 1e-6
    torch.save(content, path)
    assert_refused(call("--resume=plans"), "best.pt has other weights than when plans was begun; start anew")
    assert "starting anew" in call(*SMALL, "--resume=auto").out


def test_changed_options_in_the_folder_are_refused(call, without_a_stop, both_stages):
    shutil.copytree(without_a_stop, both_stages / "plans")
    path = both_stages / "plans" / "config.json"
    config = json.loads(path.read_text())
    for name, value in (("count", "6"), ("steps", 1001), ("sampler", None), ("nodes", 3), ("new", 1)):
        path.write_text(json.dumps(config | {"options": config["options"] | {name: value}}))
        refused = call("--resume=plans")
        assert (refused.code, refused.err.count("\n")) == (2, 1), (name, refused.err)
    path.write_text("{}")
    assert_refused(call("--resume=plans"), "config.json is damaged")


# ---- What is missing, or not what it should be ----


@pytest.mark.parametrize(("stage", "flag"), [(NODES, "--nodes"), (EDGES, "--edges")])
def test_without_a_stage_one_line_says_what_makes_it(call, both_stages, stage, flag):
    shutil.rmtree(both_stages / stage.runs)
    message = f"there is no trained run of stage {stage.number} in {stage.runs}; make one: "
    message += (
        f"python examples/floorplan_diffusion/{stage.program}.py; generate.py --bundled draws without a"
    )
    assert_refused(call(*SMALL), message)
    assert not (both_stages / "runs/floorplan_diffusion/generate").exists()
    assert_refused(call(*SMALL, flag, "nowhere"), "there is no run folder or checkpoint nowhere\n")


@pytest.mark.parametrize(("stage", "flag", "other"), [(NODES, "--nodes", EDGES), (EDGES, "--edges", NODES)])
def test_a_network_of_the_other_stage_is_refused(call, both_stages, stage, flag, other):
    refused = call(*SMALL, flag, other.runs / "first")
    assert_refused(refused, other.system)
    assert stage.system in refused.err


def test_an_occupied_folder_is_refused(call, both_stages):
    (both_stages / "thesis").mkdir()
    (both_stages / "thesis" / "chapter").write_text("one")
    assert_refused(call(*SMALL, "--out=thesis"), "--out thesis is not empty; choose another folder")
    assert_refused(call(*SMALL, "--out=thesis", "--resume=auto"), "--out thesis is not empty")
    assert_refused(call(*SMALL, "--out=thesis/chapter"), "--out thesis/chapter is a file; name a folder")
    assert [path.name for path in (both_stages / "thesis").iterdir()] == ["chapter"]
    assert_refused(call("--resume=thesis"), "thesis holds no run (no config.json)")
    assert_refused(
        call(f"--resume={NODES.runs / 'first'}"), "holds a run of floorplan_diffusion/train_nodes, not"
    )
    assert call(*SMALL, "--out=plans").code == 0
    assert_refused(
        call(*SMALL, "--out=plans"), "--out plans already holds a run; continue it with --resume auto"
    )


def test_a_folder_that_cannot_be_written_is_one_line(call, both_stages, monkeypatch):
    def full(path, write):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sampled_corners, "replace_file", full)
    failed = call(*SMALL, "--out=plans")
    assert (failed.code, failed.err.count("\n")) == (1, 1)
    assert (
        "cannot write to plans: No space left on device; remove the cause, then go on: python" in failed.err
    )
    assert failed.err.endswith(" --resume plans\n")


def test_missing_test_plans_only_skip_the_comparison(call, both_stages, monkeypatch):
    def gone(*arguments):
        raise UsageError("data/mine has no test.npz")

    monkeypatch.setattr(generate, "load_test", gone)
    done = call(*SMALL, "--out=plans")
    assert done.code == 0
    assert "note       nothing to compare with: data/mine has no test.npz\n" in done.out
    assert "data" not in read_json(both_stages / "plans" / "metrics.json")


def test_real_plans_are_those_that_no_training_has_seen(tmp_path):
    splits = load_splits("generated", 30, 5)
    write_splits(tmp_path / "data", splits)
    for plans in (load_test("generated", 30, 5), load_test(str(tmp_path / "data"), 30, 5)):
        assert_equal(plans, splits.test)
    assert not torch.equal(splits.test.corners[0], splits.val.corners[0])


# ---- Strange networks ----


@pytest.fixture
def drawn_as(monkeypatch):
    """Return a function that lets batches end with these nodes (plans, corners, 10), whatever the network."""

    def arrange(nodes):
        def sample(predict, schedule, shape, generator, **settings):
            yield 999, torch.randn(shape, generator=generator)
            yield -1, nodes.expand(shape)

        monkeypatch.setattr(sampled_corners, "sample", sample)

    return arrange


def nodes_at(places, *pixels):
    """Return nodes (1, places, 10) with corners at these pixels; the others are padding."""
    nodes = torch.zeros(1, places, 10)
    nodes[..., 2:] = -1
    nodes[..., 9] = 1
    for index, place in enumerate(pixels):
        nodes[0, index, :2] = torch.tensor(place) / 128 - 1
        nodes[0, index, 2 + index] = 1
        nodes[0, index, 9] = -1
    return nodes


@pytest.fixture
def places(tiny_runs):
    """Return for how many corners the network of stage 1 has places."""
    return load_trained(NODES, tiny_runs / NODES.runs / "first").places


@pytest.mark.parametrize("value", [1.0, float("nan")])
def test_networks_that_give_no_corner_at_all(call, drawn_as, places, value):
    drawn_as(torch.full((1, places, 10), value))
    failed = call(*SMALL, "--out=plans")
    message = "error: none of the plans has a corner; train stage 1 longer, or raise --threshold\n"
    assert (failed.code, failed.err) == (1, message)


def test_plans_of_a_single_corner_have_no_distances(call, drawn_as, places, both_stages):
    drawn_as(nodes_at(places, (100.0, 90.0)))
    done = call(*SMALL, "--out=plans")
    assert (done.code, done.err) == (0, "")
    found = read_json(both_stages / "plans" / "metrics.json")["drawn"]
    assert found["line_distance"] is None and found["axis_distance"] is None and found["corners"] == 1
    assert re.search(r"\nclosed plans \(%\) +0\.0 +100\.0 +–\n", done.out)
    assert re.search(r"\noff the nearer of both lines \(px\) +– +0\.00 +–\n", done.out)
    plans = read_plans(both_stages / "plans" / "plans.npz")
    assert [plan.corners.tolist() for plan in plans] == [[[100, 90]]] * 6


def test_equal_corners_merge_with_the_rooms_of_both(call, drawn_as, places, both_stages):
    drawn_as(nodes_at(places, (100.2, 89.9), (100.4, 90.3), (300.0, -20.0)))
    assert call(*SMALL, "--out=plans").code == 0
    for plan in read_plans(both_stages / "plans" / "plans.npz"):
        assert plan.corners.tolist() == [[100, 90], [255, 0]]
        assert plan.kinds.tolist() == [[True, True] + [False] * 5, [False, False, True] + [False] * 4]


def test_plans_without_a_corner_are_left_out_and_counted(call, drawn_as, places, both_stages):
    nodes = nodes_at(places, (100.0, 90.0), (100.0, 30.0))
    drawn_as(torch.cat([torch.ones_like(nodes), nodes]))
    done = call(*SMALL, "--out=plans")
    assert "note       plans without a corner, which are left out: 3\n" in done.out
    assert len(read_plans(both_stages / "plans" / "plans.npz")) == 3
    steps = (both_stages / "plans" / "steps.svg").read_text()
    assert ">corners<" in steps and ">with walls<" not in steps  # the first plan has none


def test_straightening_changes_pictures_only(call, drawn_as, places, both_stages, monkeypatch):
    drawn_as(nodes_at(places, (100.0, 90.0), (160.0, 92.0), (161.0, 150.0)))

    def joined(network, plans, device, batch_size):
        return [dataclasses.replace(plan, walls=numpy.array([[0, 1], [1, 2]])) for plan in plans]

    monkeypatch.setattr(generate, "join_corners", joined)
    pictures = []
    for words in (["--out=straight", "--snap=0"], ["--out=crooked", "--no-straighten", "--snap=0"]):
        assert call(*SMALL, *words).code == 0
        folder = both_stages / words[0].removeprefix("--out=")
        plan = next(iter(read_plans(folder / "plans.npz")))
        assert plan.corners.tolist() == [[100, 90], [160, 92], [161, 150]]
        pictures.append((folder / "plans" / "0003.svg").read_text())
    assert pictures == [gallery([one], columns=1).svg() for one in (straightened(plan), plan)]
    assert pictures[0] != pictures[1]


def test_each_format_comes_back_as_the_same_rooms(call, without_a_stop, both_stages, monkeypatch):
    (given,) = generate_plans(1, 5)
    monkeypatch.setattr(generate, "join_corners", lambda network, plans, device, batch_size: [given] * 6)
    words = ("--format", "png,svg,dxf,json", "--pixels-per-metre", "14", "--out", "all")
    assert call(*SMALL, *words).code == 0
    folder = both_stages / "all"
    for index, suffix in itertools.product(range(6), ("png", "svg", "dxf")):
        assert (folder / "plans" / f"{index:04d}.{suffix}").exists()
    read = {
        name: to_plans(read_drawings([folder / name], None, {}), 14, 0)
        for name in ("plans.json", "plans/0002.dxf")
    }
    (found, _), (moved, _) = read.values()
    for plan in (*found, *moved):
        assert (plan.walls == given.walls).all() and (plan.kinds == given.kinds).all()
    assert all((plan.corners == given.corners).all() for plan in found) and len(found) == 6
    assert_refused(call(*SMALL, "--format", "dwg"), "--format: 'dwg' is none of svg, png, dxf, json")
