"""What the tests of all systems have to know of this one."""

import math
from statistics import fmean

from tests.examples.system_cases import CPU, Command, SystemCases, results, spread, tiny_words

PRETRAIN, TRAIN = "genomic_caduceus/pretrain", "genomic_caduceus/train"
RUN = f"runs/{TRAIN}/first"
SEED = ("out/sequences/seed-1",)
SECONDS = tiny_words(TRAIN, **{"epochs": 20, "dataset.sequences": None, "batch_size": 6})


def reached():
    """Return the accuracy, and the best possible one."""
    data = results("genomic_runs")
    motif = data["runs"][0]
    assert (motif["id"], motif["options"]) == ("motif", [])
    figures = [*spread(motif["test_accuracy"]), fmean(motif["best_possible_accuracy"])]
    return figures, len(data["seeds"])


def make_files(folder):
    """Write sequences to learn from, and others to classify."""
    from examples.genomic_caduceus import make_data

    make_data.main(["--sequences", "48", "--length", "24", "--out", str(folder / "sequences")])
    (folder / "some.fa").write_text(">one\nACGTACGT\n>two\nAAAACCCC\n")


def rising_to_a_tenth(step, total):
    """1 % of the steps, at least one, of rising."""
    rising = max(1, round(0.01 * total))
    falling = 0.1 + 0.9 * (1 + math.cos(math.pi * (step - rising) / (total - rising))) / 2
    return (step + 1) / (rising + 1) if step < rising else falling


CASES = SystemCases(
    recordings=("genomic_pretrain", "genomic_train"),
    reached=reached,
    commands=(
        Command(
            "genomic_caduceus/make_data.py",
            ("--sequences", "20", "--length", "16", "--out", "made"),
            ("made",),
        ),
        Command(
            "genomic_caduceus/compare_seeds.py",
            ("1", "--out", "made", "--", *tiny_words(TRAIN)),
            starts=True,
        ),
        Command("genomic_caduceus/verify.py", ("--steps", "2", *CPU)),
        Command(
            "genomic_caduceus/predict.py",
            (RUN, "some.fa", "--out", "made.csv", *CPU),
            ("made.csv",),
        ),
        Command("genomic_caduceus/export.py", (RUN, "--out", "made")),
    ),
    no_commands=("check_data.py",),  # writes nothing
    runs={TRAIN: (RUN, {})},
    make_files=make_files,
    reading={TRAIN: ("sequences", {"dataset.sequences": None})},
    launchers={
        "seeds": Command(
            "genomic_caduceus/compare_seeds.py",
            ("1", "--out", "out/sequences", "--", *SECONDS, "data=sequences"),
            made=SEED,
        ),
        "benchmark": Command("genomic_caduceus/run_genomic_benchmark_no_wandb.sh", tuple(SECONDS), made=SEED),
        "benchmark for a Mac": Command(
            "genomic_caduceus/mps_optimized_genomic_benchmark.sh",
            (*SECONDS, "train.global_batch_size=6"),
            made=SEED,
        ),
    },
    recipe={"clip": 1e-3, "mlm_probability": 0.5, "rc_aug": True, "rcps": False, "warmup": 0.9},
    no_recipe=frozenset(
        {"layers", "length", "sequences", "state", "width"}
        | {"intervals", "pretrained"}  # files, with tests of their own
        | {"devices", "deterministic", "drop_last"}  # one machine, and what is refused
        | {"stack_strands"}  # another order of the same sums
        | {"conjoin_test"}  # an average that changes nothing for a network that sees both strands
    ),
    rates=dict.fromkeys((PRETRAIN, TRAIN), rising_to_a_tenth),
)
