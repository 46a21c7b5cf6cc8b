"""What a run tells its user: the facts first, a line per epoch, the result last."""

from dataclasses import asdict
from typing import Any

from examples.indicator_transformer.market_data import MarketData
from examples.indicator_transformer.options import Options
from examples.indicator_transformer.usefulness import Optimum
from snippets.atomic_write import replace_json
from snippets.checkpoints import TrainingState
from snippets.framework.run_curves import Curves, draw_curves
from snippets.framework.run_folder import RunFolder

HEADER = "epoch   step  train loss  train BCE  val BCE  selected  agreement  direction  samples/s"


def describe(options: Options, data: MarketData, config: dict[str, Any]) -> list[str]:
    """Return the facts of a run: network, versions, device, precision, data, recipe."""
    facts = config["provenance"]
    counts = f"{len(data.training):,} samples to learn from, the latest {len(data.validation):,} held out"
    lines = [
        f"network    set transformer, {options.size}: {config['parameters']:,} parameters, "
        f"{len(data.indicators)} indicators",
        f"versions   PyTorch {facts['torch']}, Python {facts['python']}, {facts['system']}",
        f"device     {config['device']}",
        f"precision  {config['precision']}",
    ]
    if options.compile:
        lines.append(f"compile    {config['compile']}")
    lines += [f"data       {data.bars:,} bars: {data.source}", f"           {counts}"]
    if data.optimum is not None:
        known = data.optimum
        blind = "" if known.blind_bce is None else f"{known.blind_bce:.4f} without context, "
        lines.append(
            f"           BCE {blind}{known.best_bce:.4f} at best; "
            f"direction right for {known.best_accuracy:.2%} at best"
        )
    if options.data_name == "goog":
        lines.append("           enough to show the reader and the indicators, far too little to learn from")
    samples = options.batch_size * options.accumulate
    passes = f" in {options.accumulate} passes of {options.batch_size}" if options.accumulate > 1 else ""
    lines.append(
        f"recipe     AdamW, lr {options.lr:g} (cosine), weight decay {options.weight_decay:g}, "
        f"{config['total_steps']:,} steps of {samples} samples{passes}, "
        f"{config['steps_per_epoch']:,} per epoch, seed {options.seed}"
    )
    return lines


def epoch_line(epoch: int, step: int, result: dict[str, float], speed: float) -> str:
    """Return one line of the table under HEADER."""
    return (
        f"{epoch:5d} {step:6d} {result['train_loss']:11.4f} {result['train_bce']:10.4f} "
        f"{result['val_bce']:8.4f} {result['val_selected']:9.1f} {result['val_agreement']:10.2%} "
        f"{result['val_right']:10.2%} {speed:10.0f}"
    )


def curves(optimum: Optimum | None) -> tuple[Curves, Curves]:
    """Return what curves.png shows, with what is known to be possible."""
    loss = Curves(
        "cross-entropy of usefulness (nats)",
        {"training": "train_bce", "held out": "val_bce"},
        {"best possible": optimum.best_bce, "without context": optimum.blind_bce} if optimum else {},
    )
    limits = {"best possible": optimum.best_accuracy} if optimum else {}
    return loss, Curves("direction right", {"held out": "val_right"}, limits, percent=True)


def conclude(run: RunFolder, options: Options, data: MarketData, state: TrainingState) -> list[str]:
    """Draw curves.png, write summary.json, and return the result in words."""
    progress, result = state.progress, state.progress["result"]
    seconds, optimum = progress["seconds"], data.optimum
    title = f"{options.data_name}, {len(data.indicators)} indicators: BCE {result['val_bce']:.4f} held out"
    draw_curves(run.metrics_file, run.path / "curves.png", title, curves(optimum))
    summary = {
        **result,
        "best_val_bce": -progress["best_score"],
        "best_epoch": progress["best_epoch"],
        "optimum": optimum and asdict(optimum),
        "seconds": seconds,
    }
    replace_json(run.path / "summary.json", {**summary, "steps": state.step, "options": asdict(options)})
    right = f"direction right for {result['val_right']:.2%} of {len(data.validation):,} held-out samples"
    if not result["val_selected"]:
        right = "no direction: no indicator was ever selected"
    lines = [f"done       BCE {result['val_bce']:.4f}, {right}, after {seconds:.1f} s"]
    if optimum is not None and optimum.blind_bce is not None:
        way = (optimum.blind_bce - result["val_bce"]) / (optimum.blind_bce - optimum.best_bce)
        lines.append(
            f"           {way:.0%} of the way from the loss without context to the best possible one"
            if way >= 0
            else f"           not yet as low as the loss without context, {optimum.blind_bce:.4f}"
        )
    return [
        *lines,
        f"           best: BCE {-progress['best_score']:.4f} after epoch {progress['best_epoch']}",
        f"curves     {run.path / 'curves.png'}",
        f"weights    {run.last_checkpoint} and {run.best_checkpoint.name}",
    ]
