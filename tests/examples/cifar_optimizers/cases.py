"""What the tests of all systems have to know of this one."""

from tests.examples.system_cases import CPU, Command, SystemCases, results, spread, tiny_words


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
    ),
    no_commands=("label_noise.py",),  # trains many networks at their usual size
    recipe={"label_noise": 0.5, "optimizer": "adamw", "schedule": "constant"},
    no_recipe=frozenset(
        {"data_fraction", "image_size", "width"} | {"workers_name"}  # other draws of the same kind
    ),
    clip=None,
)
