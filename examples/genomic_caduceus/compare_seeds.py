"""Train with several seeds in turn: accuracy of each, mean and standard deviation.

    python examples/genomic_caduceus/compare_seeds.py                        seeds 0 to 4, generated sequences
    python examples/genomic_caduceus/compare_seeds.py 1 2 3 -- data=FOLDER   settings of train.py follow --

Each run has its own folder DIR/seed-<k>. Repeating the command skips finished runs and continues the others.
For generated data, the seed also determines the sequences, so the best possible accuracy differs.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the folder of examples/ and snippets/
try:
    from examples.programs import imports

    imports.prepare(__file__)
except ModuleNotFoundError:
    print(f"error: {__file__} needs examples/ and snippets/, as in the handbook; copy both", file=sys.stderr)
    sys.exit(2)

import shlex
import statistics
from typing import Any

from examples.genomic_caduceus.options import TRAIN
from examples.programs.command_line import StrictParser, expanded, whole_number
from examples.programs.report import provenance
from examples.programs.run_folder import check_target, json_with, read_json
from examples.systems import run
from snippets.atomic_write import replace_json
from snippets.errors import RunError, UsageError, exit_with_one_line, tell

PROGRAM = Path(__file__).with_name("train.py")
OUT = Path("runs/genomic_caduceus/seeds")
SEEDS = (0, 1, 2, 3, 4)
OWN = ("seed", "out", "resume")  # options of train.py that this program sets


def seed(text: str) -> int:
    """Return a seed. Raises ArgumentTypeError."""
    if "=" in text:
        raise argparse.ArgumentTypeError(f"{text!r} is no seed; settings of train.py follow --")
    return whole_number(0, 2**32 - 1)(text)


def read_command_line(words: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """Return the options, and the checked settings of train.py. Raises UsageError."""
    place = words.index("--") if "--" in words else len(words)
    own, settings = words[:place], list(words[place + 1 :])
    parser = StrictParser(
        usage="compare_seeds.py [-h] [--out DIR] [SEED ...] [-- key=value ...]",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("seeds", nargs="*", type=seed, metavar="SEED", help="0 1 2 3 4")
    parser.add_argument("--out", type=expanded, default=OUT, metavar="DIR", help=str(OUT))
    options = parser.parse_args(own)
    check_target(options.out / "summary.json", json_with("settings", "runs"))  # a run's has other fields
    options.seeds = list(dict.fromkeys(options.seeds or SEEDS))
    typed = TRAIN.read(settings)
    for name in OWN:
        if name in typed:
            raise UsageError(
                f"{name}= is set by this program: seeds stand before --, and --out is its folder"
            )
    TRAIN.resolve(typed)
    return options, settings


def train_with(number: int, folder: Path, settings: Sequence[str]) -> int:
    """Train with a seed in a new process, or continue its run; return the exit code."""
    own = [f"seed={number}", f"out={folder}", "resume=auto"]
    return run([sys.executable, str(PROGRAM), *settings, *own])


def result_of(number: int, folder: Path, code: int | None) -> dict[str, Any]:
    """Return the result of one seed; `code` is the exit code of its training, None before its start."""
    entry = {"seed": number, "run": str(folder)}
    summary = read_json(folder / "summary.json") if code == 0 else None
    if summary is None or not isinstance(summary.get("test_accuracy"), float):
        status = {None: "not begun", 0: "without a summary"}.get(code, f"exit code {code}")
        return entry | {"status": status}
    names = ("test_accuracy", "best_possible_accuracy", "seconds")
    return entry | {"status": "finished"} | {name: summary.get(name) for name in names}


def mean_and_deviation(values: Sequence[float]) -> tuple[float, float | None]:
    """Return mean and sample standard deviation, which is None for one value."""
    return statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else None


def summary_of(results: list[dict[str, Any]]) -> dict[str, Any]:
    """Return mean and deviation over the finished seeds: of accuracy, and of its distance to the optimum."""
    finished = [result for result in results if result["status"] == "finished"]
    columns = {"test_accuracy": [result["test_accuracy"] for result in finished]}
    if finished and all(result["best_possible_accuracy"] is not None for result in finished):
        columns["below_best_possible"] = [
            result["best_possible_accuracy"] - result["test_accuracy"] for result in finished
        ]
    return {
        name: dict(zip(("mean", "standard_deviation"), mean_and_deviation(values), strict=True))
        for name, values in columns.items()
        if values
    }


def table(results: list[dict[str, Any]]) -> list[str]:
    """Return a line per seed, and mean ± deviation in points."""
    known = any(result.get("best_possible_accuracy") is not None for result in results)
    lines = ["", "seed        accuracy" + "   at best   below it" * known]
    for result in results:
        if result["status"] != "finished":
            lines.append(f"{result['seed']:<10}  {result['status']}")
            continue
        accuracy, best = result["test_accuracy"], result["best_possible_accuracy"]
        line = f"{result['seed']:<10} {accuracy:9.2%}"
        lines.append(f"{line} {best:9.2%} {100 * (best - accuracy):10.2f}" if known else line)
    for name, found in summary_of(results).items():
        deviation = found["standard_deviation"]
        spread = "" if deviation is None else f" ± {100 * deviation:.2f}"
        what = "accuracy" if name == "test_accuracy" else "points below the best possible accuracy"
        lines.append(f"mean       {100 * found['mean']:.2f}{spread}  {what}")
    return lines


def main(argv: Sequence[str] | None = None) -> int:
    """Train with every seed, print a table and write summary.json. Raises UsageError and RunError."""
    options, settings = read_command_line(sys.argv[1:] if argv is None else argv)
    codes: dict[int, int] = {}
    for number in options.seeds:
        code = codes[number] = train_with(number, options.out / f"seed-{number}", settings)
        if code == UsageError.exit_code:
            return code  # train.py has printed the reason
        results = [result_of(one, options.out / f"seed-{one}", codes.get(one)) for one in options.seeds]
        summary = {"settings": settings, "runs": results, **summary_of(results), "provenance": provenance()}
        replace_json(options.out / "summary.json", summary)
        if code >= 128:
            print(f"to go on with the comparison: {shlex.join(['python', *sys.argv])}")
            return code
    print("\n".join(table(results)))
    tell(f"summary    {options.out / 'summary.json'}")
    return RunError.exit_code if any(codes.values()) else 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
