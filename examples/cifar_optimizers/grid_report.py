"""The results of a grid: a table with means and standard deviations, and a picture."""

import statistics
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from examples.programs.run_folder import read_metrics

# The palette of Okabe and Ito, safe for colour blindness; markers distinguish them in grey.
LOOKS = {
    "sgd": ("#0072b2", "o"),
    "adam": ("#e69f00", "s"),
    "adamw": ("#d55e00", "^"),
    "radam": ("#56b4e9", "v"),
    "lion": ("#009e73", "D"),
    "muon": ("#cc79a7", "P"),
}


def by_optimizer(results: list[dict[str, Any]]) -> dict[str, list[float]]:
    """Return the test accuracies (0 to 1) of the finished runs of each optimizer, the best mean first."""
    found: dict[str, list[float]] = {}
    for result in results:
        if result["status"] == "finished":
            found.setdefault(result["optimizer"], []).append(result["test_accuracy"])
    return dict(sorted(found.items(), key=lambda item: statistics.fmean(item[1]), reverse=True))


def mean_and_deviation(values: list[float]) -> str:
    """Return the mean of shares (0 to 1) in percent, and their sample standard deviation in points.

    The deviation divides by n - 1, since the few seeds are a sample of all possible ones.
    """
    deviation = f"{100 * statistics.stdev(values):5.2f}" if len(values) > 1 else "    –"
    return f"{statistics.fmean(values):7.2%} ± {deviation}"


def table(results: list[dict[str, Any]]) -> list[str]:
    """Return the lines of a table of optimizers, the best first, followed by the failed runs."""
    lines = ["", "optimizer   n  test accuracy       each seed"]
    for optimizer, accuracies in by_optimizer(results).items():
        each = " ".join(f"{accuracy:.2%}" for accuracy in accuracies)
        lines.append(f"{optimizer:<10} {len(accuracies):2d}  {mean_and_deviation(accuracies)}    {each}")
    lines.append("mean ± sample standard deviation over n seeds, after the last epoch, in points")
    failed = [result for result in results if result["status"] == "failed"]
    lines += [f"failed     {result['name']}: {result['reason']}" for result in failed]
    return lines


def draw_grid(folder: Path, results: list[dict[str, Any]], image: Path) -> None:
    """Write a picture to `image`: accuracy by epoch as mean and deviation, and the end of each run."""
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    course, end = figure.subplots(1, 2, width_ratios=(3, 2))
    for place, (optimizer, accuracies) in enumerate(by_optimizer(results).items()):
        colour, marker = LOOKS[optimizer]
        names = [
            run["name"] for run in results if (run["optimizer"], run["status"]) == (optimizer, "finished")
        ]
        draw_course(course, [folder / name / "metrics.jsonl" for name in names], optimizer)
        beside = [place + 0.14 * (number - (len(accuracies) - 1) / 2) for number in range(len(accuracies))]
        end.plot(beside, accuracies, marker, color=colour, alpha=0.8, markersize=7)  # ties side by side
        end.hlines(statistics.fmean(accuracies), place - 0.3, place + 0.3, color=colour)
    course.set_xlabel("epoch")
    course.set_title("on the way: mean and standard deviation", fontsize=10)
    end.set_title("after the last epoch: each seed and the mean", fontsize=10)
    end.set_xticks(range(len(by_optimizer(results))), by_optimizer(results))
    for axes in (course, end):
        axes.set_ylabel("accuracy on held-out images")
        axes.yaxis.set_major_formatter(PercentFormatter(1))
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    if course.lines:
        course.legend(frameon=False)
    figure.savefig(image, dpi=150)


def draw_course(axes: Axes, files: list[Path], optimizer: str) -> None:
    """Draw the mean accuracy of several runs by epoch, with a band of one standard deviation."""
    colour, marker = LOOKS[optimizer]
    courses = [
        {
            line["epoch"]: line["test_accuracy"]
            for line in read_metrics(file)
            if line.get("test_accuracy") is not None
        }
        for file in files
    ]
    epochs = sorted(set.intersection(*(set(course) for course in courses)))
    columns = [[course[epoch] for course in courses] for epoch in epochs]
    means = [statistics.fmean(column) for column in columns]
    axes.plot(epochs, means, marker=marker, markersize=4, color=colour, label=optimizer)
    if len(files) > 1:
        spread = [statistics.stdev(column) for column in columns]
        low = [mean - deviation for mean, deviation in zip(means, spread, strict=True)]
        high = [mean + deviation for mean, deviation in zip(means, spread, strict=True)]
        axes.fill_between(epochs, low, high, color=colour, alpha=0.15, linewidth=0)
