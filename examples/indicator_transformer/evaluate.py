"""Evaluate the best network of a run on held-out samples: `evaluate.py RUN`.

It prints the losses beside those of simpler and of perfect forecasters, the calibration of probabilities, the
accuracy of forecast directions, and the selected indicators by market regime. It writes the same as
evaluation.json, and draws evaluation.png.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # the folder of examples/ and snippets/
try:
    from examples.programs import imports

    imports.prepare(__file__)
except ModuleNotFoundError:
    print(f"error: {__file__} needs examples/ and snippets/, as in the handbook; copy both", file=sys.stderr)
    sys.exit(2)

from examples.indicator_transformer.bar_checks import in_words
from examples.indicator_transformer.evaluation_data import HeldOut, Trained, held_out, load_trained
from examples.indicator_transformer.evaluation_plot import draw_evaluation
from examples.indicator_transformer.evaluation_report import report
from examples.indicator_transformer.evaluation_table import table
from examples.indicator_transformer.model import parameter_count
from examples.indicator_transformer.options import NAMES
from examples.programs.command_line import StrictParser, expanded, first_line, number
from examples.programs.failures import explained_failures
from examples.programs.report import provenance
from examples.programs.run_folder import check_target
from examples.programs.trained import folder_of, report_on
from snippets.atomic_write import replace_file, replace_json
from snippets.device import pick_device
from snippets.errors import UsageError, exit_with_one_line, tell


def read_command_line(argv: Sequence[str] | None) -> Any:
    """Return the options. Raises UsageError."""
    parser = StrictParser(prog="evaluate.py", description=first_line(__doc__).partition(":")[0] + ".")
    parser.add_argument(
        "run", type=expanded, metavar="RUN|CHECKPOINT", help="run folder, or a .pt file in it"
    )
    what = f"other bars: {NAMES[0]} (newly generated), {NAMES[1]}, or prices; else those held out"
    parser.add_argument("--data", metavar="NAME|FILE|FOLDER", help=what)
    parser.add_argument(
        "--out", type=expanded, metavar="DIR", help="where to write; needed with --data; else the run folder"
    )
    missing = "share of a file's bars that may be missing; as in the run"
    parser.add_argument("--max-missing", type=number(0, 1), help=missing)
    devices = ("auto", "mps", "cuda", "cpu")
    parser.add_argument("--device", default="auto", choices=devices, help="auto: CUDA, then MPS, then CPU")
    options = parser.parse_args(argv)
    if options.data is not None and options.out is None:
        raise UsageError(
            "--data needs --out: the run folder keeps the report on the run's own held-out samples"
        )
    return options


def facts(trained: Trained, subject: HeldOut, device: str) -> dict[str, Any]:
    """Return network, data and device of the evaluation, for evaluation.json."""
    return {
        "checkpoint": str(trained.checkpoint),
        "step": trained.step,
        "size": trained.options.size,
        "parameters": parameter_count(trained.network.model),
        "bars": subject.bars,
        "interval": in_words(subject.interval),
        "source": subject.source,
        "held_out": subject.why,
        "notes": [*filter(None, [trained.note]), *subject.notes],
        "device": device,
    }


def check_targets(folder: Path, run: Path) -> None:
    """Raise UsageError when a report or a picture in `folder` is not one of `run`."""
    report = folder / "evaluation.json"
    check_target(report, report_on(run, "samples", "held_out"))
    check_target(folder / "evaluation.png", lambda _: report.exists())


def write(folder: Path, evaluation: dict[str, Any]) -> None:
    """Write evaluation.json and evaluation.png into `folder`. Raises UsageError when that fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        replace_json(folder / "evaluation.json", evaluation)
        replace_file(folder / "evaluation.png", lambda file: draw_evaluation(evaluation, file))
    except OSError as error:
        raise UsageError(
            f"cannot write to {folder}: {error.strerror}; name another folder with --out"
        ) from None


def main(argv: Sequence[str] | None = None) -> int:
    """Evaluate the run of the command line and return the exit code. Raises UsageError."""
    options = read_command_line(argv)
    device, reason = pick_device(options.device)
    trained = load_trained(options.run)
    if options.max_missing is not None:
        trained.options = replace(trained.options, max_missing=options.max_missing)
    folder = options.out or folder_of(trained.checkpoint)
    check_targets(folder, folder_of(trained.checkpoint))
    subject = held_out(trained, options.data)
    evaluation = facts(trained, subject, f"{device} ({reason})")
    with explained_failures("out of memory; try --device cpu, which may have more"):
        model, samples = trained.network.model.to(device), subject.samples.to(device)
        evaluation |= report(model, samples, trained.network.indicators, subject.reference)
    evaluation["provenance"] = provenance()
    write(folder, evaluation)  # before printing, because the reader of the output may exit
    for line in table(evaluation):
        print(line)
    tell(f"written    {folder / 'evaluation.json'} and evaluation.png")
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
