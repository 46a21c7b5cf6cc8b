"""What the tests of all systems have to know of this one."""

from statistics import fmean

from examples.systems import FOLDER
from tests.examples.system_cases import CPU, Command, SystemCases, results, spread, tiny_words

RUN = "runs/two_tower/first"
TEXTS = FOLDER / "two_tower/data/pairs.tsv"
EMBED = ("--side", "document", "--out", "docs.npy")


def reached():
    """Return the recall, and that of untrained networks."""
    data = results("two_tower_pages")
    run = data["runs"][0]
    assert run["options"] == []
    return [*spread(run["best"]["recall_5"]), fmean(run["untrained"]["recall_5"])], len(data["seeds"])


def make_files(folder):
    """Write the vectors of all passages beside the run, and new texts."""
    from examples.two_tower import build_cache

    (folder / "docs.txt").write_text("out of memory\n内存不足\n", encoding="utf-8")

    build_cache.main([str(folder / RUN), *CPU])


CASES = SystemCases(
    recordings=("two_tower_default",),
    reached=reached,
    commands=(
        Command("two_tower/build_cache.py", (RUN, "--out", "p.npy", *CPU), ("p.npy",)),
        Command("two_tower/mine_near_misses.py", (RUN, "--out", "near.jsonl", *CPU), ("near.jsonl",)),
        Command("two_tower/evaluate.py", (RUN, "--out", "made", *CPU)),
        Command("two_tower/search.py", ("memory", RUN, *CPU)),
        Command("two_tower/encode.py", (str(TEXTS), "--article", "page", "--out", "v"), ("v",)),
        Command("two_tower/embed.py", (RUN, "docs.txt", *EMBED, *CPU), ("docs.npy",)),
        Command("two_tower/export.py", (RUN, "--out", "made")),
    ),
    runs={"two_tower": (RUN, {"data": "pages", "rows": None})},
    make_files=make_files,
    launchers={
        "shell": Command("two_tower/launch.sh", ("run", *tiny_words("two_tower", epochs=30)), made=("run",))
    },
    recipe={
        "dropout": 0.5,
        "learn_temperature": True,
        "near_miss_k": 3,
        "noise": 0.1,
        "same_article_k": 1,
        "temperature": 0.2,
        "tower": "gru",
        "val_split": 0.4,
    },
    no_recipe=frozenset(
        {"conv", "expand", "layers", "rows", "size", "state", "width"}
        | {"near_misses", "p_cache", "start_from"}  # files, with tests of their own
    ),
    quick_single_file=True,
)
