"""The report of a run: its settings, a line per epoch, and its result."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import torch

from examples.indicator_transformer.evaluation_report import outputs
from examples.indicator_transformer.learned import frequencies, sentences, what_was_learned
from examples.indicator_transformer.samples import constant_readings
from examples.indicator_transformer.usefulness import Optimum
from examples.programs.report import Curves, draw_curves, machine_lines, recipe_line, write_summary
from examples.programs.run_folder import RunFolder

if TYPE_CHECKING:
    from examples.indicator_transformer.train import IndicatorSelection

BASELINE = {"table": "without context"}  # the name of the reference loss, by --data
HEADER = "epoch   step  train loss  train BCE  val BCE  selected  agreement  direction  samples/s"


def describe(task: "IndicatorSelection", config: dict[str, Any]) -> list[str]:
    """Return the settings of a run as lines: network, versions, device, precision, data, recipe."""
    options, data = task.options, task.data
    counts = f"{len(data.training):,} samples to learn from, the latest {len(data.validation):,} held out"
    lines = [
        f"network    set transformer, {options.size}: {config['parameters']:,} parameters, "
        f"{len(data.indicators)} indicators",
        *machine_lines(config),
        f"data       {data.bars:,} {data.unit}: {data.source}",
        f"           {counts}",
        *(f"           {note}" for note in data.notes),
    ]
    if constant := constant_readings(data.training):
        lines.append(f"           {constant}")
    if data.optimum is not None:
        known = data.optimum
        blind = "" if known.blind_bce is None else f"{known.blind_bce:.4f} {baseline(options.data_name)}, "
        lines.append(
            f"           BCE {blind}{known.best_bce:.4f} at best; "
            f"direction right for {known.best_accuracy:.2%} at best"
        )
    if options.data_name == "goog":
        lines.append("           enough to show the reader and the indicators, far too little to learn from")
    return [*lines, recipe_line(options, config, f"AdamW, lr {options.lr:g} (cosine)", "samples")]


def epoch_line(epoch: int, step: int, result: dict[str, float], speed: float) -> str:
    """Return one line of the table under HEADER."""
    return (
        f"{epoch:5d} {step:6d} {result['train_loss']:11.4f} {result['train_bce']:10.4f} "
        f"{result['val_bce']:8.4f} {result['val_selected']:9.1f} {result['val_agreement']:10.2%} "
        f"{result['val_right']:10.2%} {speed:10.0f}"
    )


def baseline(data_name: str) -> str:
    """Return the name of the reference forecaster whose loss every network should beat."""
    return BASELINE.get(data_name, "with the calls alone")


def curves(optimum: Optimum | None, data_name: str) -> tuple[Curves, Curves]:
    """Return the panels of curves.png, with the known optimum."""
    loss = Curves(
        "cross-entropy of usefulness (nats)",
        {"training": "train_bce", "held out": "val_bce"},
        {"best possible": optimum.best_bce, baseline(data_name): optimum.blind_bce} if optimum else {},
    )
    limits: dict[str, float | None] = {"best possible": optimum.best_accuracy} if optimum else {}
    return loss, Curves("direction right", {"held out": "val_right"}, limits, percent=True)


def conclude(task: "IndicatorSelection", run: RunFolder) -> list[str]:
    """Draw curves.png, write summary.json, and return the lines about the result."""
    data, progress, optimum = task.data, task.state.progress, task.data.optimum
    result, best, name = progress["result"], -progress["best_score"], task.options.data_name
    title = f"{name}, {len(data.indicators)} indicators: BCE {result['val_bce']:.4f} held out"
    draw_curves(run.metrics_file, run.path / "curves.png", title, curves(optimum, name))
    known = {"best_val_bce": best, "optimum": optimum and asdict(optimum)}
    right = f"direction right for {result['val_right']:.2%} of {len(data.validation):,} held-out samples"
    if not result["val_selected"]:
        right = "no direction: no indicator was ever selected"
    lines = [f"done       BCE {result['val_bce']:.4f}, {right}, after {progress['seconds']:.1f} s"]
    if optimum is not None and optimum.blind_bce is not None:
        way = (optimum.blind_bce - result["val_bce"]) / (optimum.blind_bce - optimum.best_bce)
        lines.append(
            f"           {way:.0%} of the way from the loss {baseline(name)} to the best possible one"
            if way >= 0
            else f"           not yet as low as the loss {baseline(name)}, {optimum.blind_bce:.4f}"
        )
    return [
        *lines,
        *(f"           {line}" for line in verdict(task)),
        f"           best: BCE {best:.4f} after epoch {progress['best_epoch']}",
        *write_summary(run, task.options, task.state, **known),
    ]


def verdict(task: "IndicatorSelection") -> list[str]:
    """Return, of bars whose best forecast is unknown, sentences on whether anything was learned."""
    data = task.data
    if data.optimum is not None or data.clock is None:
        return []
    logits, weights = (
        torch.cat(part).cpu() for part in zip(*outputs(task.state.model, task.held_out), strict=True)
    )
    return list(
        sentences(what_was_learned(logits, weights, data.validation, data.clock, frequencies(data.training)))
    )
