"""The commands of all programs, each with the least to do, and a folder in which they find what they need."""

from dataclasses import dataclass
from pathlib import Path

from examples.floorplan_diffusion import make_data as make_plans
from examples.genomic_caduceus import make_data as make_sequences
from examples.indicator_transformer.generated_bars import generate_market
from examples.systems import FOLDER, find, modules
from examples.two_tower import build_cache

TWO_TOWER, TREND = "runs/two_tower/first", "runs/indicator_transformer/first"
NODES, EDGES = "runs/floorplan_diffusion/train_nodes/first", "runs/floorplan_diffusion/train_edges/first"
BEFORE = {  # the runs that other programs use, which take the newest of a system
    "two_tower": TWO_TOWER,
    "indicator_transformer": TREND,
    "floorplan_diffusion/train_nodes": NODES,
    "floorplan_diffusion/train_edges": EDGES,
}
CPU = ("--device", "cpu")


@dataclass(frozen=True)
class Command:
    """A program with its words; `made` are the files or folders that it writes, the same each time."""

    script: str  # below examples/
    words: tuple[str, ...]
    made: tuple[str, ...] = ()
    data: str = ""  # that it reads

    @property
    def line(self):
        """Return what is typed after `python`."""
        return [str(FOLDER / self.script), *self.words]


def tiny_words(name, **settings):
    """Return the words of a tiny training."""
    (program,) = find(name)[1]
    return program.words(dict(program.tiny) | {"device": "cpu"} | settings)


def training(name):
    """Return the command of a training in the folder `run`, or of what is left of it."""
    script = f"{name}.py" if "/" in name else f"{name}/train.py"
    return Command(script, tuple(tiny_words(name, out="run", resume="auto")))


GENOMIC = tuple(tiny_words("genomic_caduceus/train"))
DRAW = ("--count", "3", "--sampler", "ddim", "--steps", "2", "--out", "made/plans", "--resume", "auto", *CPU)
OTHERS = {
    "benchmark": Command(
        "benchmark.py", ("cifar_optimizers", "--quick", "--levels", "cpu", "--json", "b.json")
    ),
    "monitor": Command("monitor.py", ("--once", TWO_TOWER)),
    "profile_training": Command("profile_training.py", ("cifar_optimizers", *tiny_words("cifar_optimizers"))),
    "grid": Command(
        "cifar_optimizers/grid.py",
        ("--optimizers", "sgd", "--seeds", "0", "--out", "made", *tiny_words("cifar_optimizers")),
    ),
    "compare_devices": Command("cifar_optimizers/compare_devices.py", CPU),
    "evaluate": Command("indicator_transformer/evaluate.py", (f"{TREND}/checkpoints/best.pt", *CPU)),
    "predict": Command(
        "indicator_transformer/predict.py",
        (f"{TREND}/checkpoints/best.pt", "ACME.csv", "--out", "trend.csv", *CPU),
        ("trend.csv",),
    ),
    "build_cache": Command("two_tower/build_cache.py", (TWO_TOWER, "--out", "p.npy", *CPU), ("p.npy",)),
    "mine_near_misses": Command(
        "two_tower/mine_near_misses.py", (TWO_TOWER, "--out", "near.jsonl", *CPU), ("near.jsonl",)
    ),
    "evaluate two_tower": Command("two_tower/evaluate.py", (TWO_TOWER, "--out", "made", *CPU)),
    "search": Command("two_tower/search.py", ("memory", TWO_TOWER, *CPU)),
    "generate": Command("floorplan_diffusion/generate.py", DRAW, ("made/plans/plans.npz",)),
    "export": Command("floorplan_diffusion/export.py", ("--nodes", NODES, "--out", "made")),
    "make_data plans": Command(
        "floorplan_diffusion/make_data.py", ("--plans", "20", "--out", "made"), ("made",)
    ),
    "make_data sequences": Command(
        "genomic_caduceus/make_data.py",
        ("--sequences", "20", "--length", "16", "--out", "made"),
        ("made",),
    ),
    "compare_seeds": Command("genomic_caduceus/compare_seeds.py", ("1", "--out", "made", "--", *GENOMIC)),
    "verify": Command("genomic_caduceus/verify.py", ("--steps", "2", *CPU)),
}
TRAININGS = {name: training(name) for name in modules()}
COMMANDS = TRAININGS | OTHERS
READING = {  # trainings on data of one's own
    name: Command(training(name).script, tuple(tiny_words(name, data=data, out="run", **settings)), data=data)
    for name, data, settings in (
        ("indicator_transformer", "bars", {"bars": None}),
        ("floorplan_diffusion/train_nodes", "plans", {"plans": None}),
        ("genomic_caduceus/train", "sequences", {"dataset.sequences": None}),
    )
}


def make_workplace(folder: Path, train):
    """Let `train(name, words)` make, in the working folder `folder`, the runs that other programs use."""
    for name, run in BEFORE.items():
        settings = {"data": "pages", "rows": None} if name == "two_tower" else {}
        train(name, tiny_words(name, epochs=1, out=folder / run, **settings))
    make_plans.main(["--plans", "40", "--out", str(folder / "plans")])
    make_sequences.main(["--sequences", "48", "--length", "24", "--out", str(folder / "sequences")])
    (folder / "bars").mkdir()
    generate_market(6000).bars.table.to_csv(folder / "bars" / "ACME.csv")
    build_cache.main([str(folder / TWO_TOWER), *CPU])
    generate_market(2000).bars.table.to_csv(folder / "ACME.csv")


def made_by(command, folder):
    """Return the content of what a command wrote in `folder`, by path."""
    paths = [folder / name for name in command.made]
    files = [
        file for path in paths for file in (path.rglob("*") if path.is_dir() else [path]) if file.is_file()
    ]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}
