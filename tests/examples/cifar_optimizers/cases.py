"""What the tests of all systems have to know of this one."""

from tests.examples.system_cases import CPU, Command, SystemCases, results, spread, tiny_words

RUN = "runs/cifar_optimizers/first"
CHECKPOINT = f"{RUN}/checkpoints/best.pt"
SHEET = ("--out", "classes.csv", "--sheet", "sheet.png")


def make_files(folder):
    """Write pictures to learn from and to predict."""
    from tests.examples.cifar_optimizers.data_forms import write_pictures

    write_pictures(folder / "pictures", {"cat": 64, "dog": 64})


def reached():
    """Return the accuracy with the default optimizer."""
    data = results("cifar_digits")
    run = data["runs"][0]
    assert run["options"] in ([], ["--optimizer", "sgd"])
    return spread(run["test_accuracy"]), len(data["seeds"])


CASES = SystemCases(
    recordings=("cifar_default",),
    reached=reached,
    commands=(
        Command(
            "cifar_optimizers/grid.py",
            ("--optimizers", "sgd", "--seeds", "0", "--out", "made", *tiny_words("cifar_optimizers")),
            starts=True,
        ),
        Command("cifar_optimizers/compare_devices.py", CPU),
        Command(
            "cifar_optimizers/predict.py",
            (CHECKPOINT, "pictures", *SHEET, *CPU),
            ("classes.csv", "sheet.png"),
        ),
        Command("cifar_optimizers/export.py", (RUN, "--out", "exported")),
    ),
    no_commands=(
        "check_data.py",  # computes nothing
        "label_noise.py",  # trains many networks at their usual size
    ),
    runs={"cifar_optimizers": (RUN, {})},
    make_files=make_files,
    reading={"cifar_optimizers": ("pictures", {"data_fraction": None})},
    recipe={"label_noise": 0.5, "optimizer": "adamw", "schedule": "constant"},
    no_recipe=frozenset(
        {"data_fraction", "image_size", "width"} | {"workers_name"}  # other draws of the same kind
    ),
    clip=None,
)
