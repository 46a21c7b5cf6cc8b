"""What the tests of all systems have to know of this one."""

import math

from tests.examples.system_cases import CPU, Command, SystemCases, results, spread, tiny_words

NODES, EDGES = "floorplan_diffusion/train_nodes", "floorplan_diffusion/train_edges"
NODES_RUN, EDGES_RUN = f"runs/{NODES}/first", f"runs/{EDGES}/first"
DRAW = ("--count", "3", "--sampler", "ddim", "--steps", "2", "--out", "made/plans", "--resume", "auto", *CPU)


def reached():
    """Return the share of corners that are in line, and that of random ones."""
    (data,) = results("floorplan_ablation")
    row = data["rows"][0]
    assert row["options"] == []
    random = results("floorplan_quality")[0]["random"]["in_line"]
    return [*spread(row["in_line"]), random], len(data["seeds"])


def make_files(folder):
    """Write plans to learn from."""
    from examples.floorplan_diffusion import make_data

    make_data.main(["--plans", "40", "--out", str(folder / "plans")])


def rising_to_zero(step, total):
    """Stage 1: 50 steps, or half of all, of rising."""
    return min(1, (step + 1) / (min(50, total // 2) + 1)) * (1 + math.cos(math.pi * step / total)) / 2


def menu(*words, **settings):
    """Return the command of the menu that trains stage 1."""
    words = (*words, "--", *tiny_words(NODES, epochs=100, out="run", **settings))
    return Command("floorplan_diffusion/launch.py", words, made=("run",))


CASES = SystemCases(
    recordings=("floorplans",),  # both trainings
    reached=reached,
    commands=(
        Command("floorplan_diffusion/generate.py", DRAW, ("made/plans/plans.npz",)),
        Command("floorplan_diffusion/export.py", ("--nodes", NODES_RUN, "--out", "made")),
        Command("floorplan_diffusion/pack.py", ("--out", "made/networks.npz"), ("made/networks.npz",)),
        Command("floorplan_diffusion/make_data.py", ("--plans", "20", "--out", "made"), ("made",)),
    ),
    no_commands=(
        "check_data.py",  # writes nothing
        "convert.py",  # needs the files of another project
        "launch.py",  # starts a training
    ),
    runs={NODES: (NODES_RUN, {}), EDGES: (EDGES_RUN, {})},
    make_files=make_files,
    reading={NODES: ("plans", {"plans": None})},
    launchers={
        "menu": menu("--choice", "1", resume="auto"),
        "menu, background": menu("--choice=1", "--background"),
    },
    recipe={"alignment": 0, "ema": 0, "focus": 1, "optimizer": "adamw", "place_weight": 1},
    no_recipe=frozenset({"corners", "heads", "layers", "plans", "size", "width"}),
    rates={NODES: rising_to_zero},
)
