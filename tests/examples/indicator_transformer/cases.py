"""What the tests of all systems have to know of this one."""

from tests.examples.system_cases import CPU, Command, SystemCases, results, spread

RUN = "runs/indicator_transformer/first"


def reached():
    """Return how far the loss is on the way from the best one without context to the best possible one."""
    data = results("indicator_runs")
    blind, best = data["blind_bce"], data["best_bce"]
    return spread([(blind - loss) / (blind - best) for loss in data["val_bce"]]), len(data["seeds"])


def make_files(folder):
    """Write bars to learn from, and some to predict from."""
    from examples.indicator_transformer.generated_bars import generate_market

    (folder / "bars").mkdir()
    generate_market(6000).bars.table.to_csv(folder / "bars" / "ACME.csv")
    generate_market(2000).bars.table.to_csv(folder / "ACME.csv")


CASES = SystemCases(
    recordings=("indicator_default",),
    reached=reached,
    commands=(
        Command("indicator_transformer/check_data.py", ("ACME.csv",)),
        Command("indicator_transformer/evaluate.py", (f"{RUN}/checkpoints/best.pt", *CPU)),
        Command(
            "indicator_transformer/predict.py",
            (f"{RUN}/checkpoints/best.pt", "ACME.csv", "--out", "trend.csv", *CPU),
            ("trend.csv",),
        ),
    ),
    runs={"indicator_transformer": (RUN, {})},
    make_files=make_files,
    reading={"indicator_transformer": ("bars", {"bars": None})},
    recipe={"horizon": 10, "stride": 7, "val_split": 0.4},
    no_recipe=frozenset({"bars", "indicators", "rows", "size"}),
)
