"""What a run tells its user: the facts first, a line per epoch, the result last."""

from dataclasses import asdict
from typing import Any

from examples.cifar_optimizers.image_data import ImageData
from examples.cifar_optimizers.options import Options
from examples.cifar_optimizers.training_labels import noise_floor
from snippets.atomic_write import replace_json
from snippets.checkpoints import TrainingState
from snippets.framework.run_curves import Curves, draw_curves
from snippets.framework.run_folder import RunFolder

HEADER = "epoch   step  train loss  train acc  test loss  test acc  images/s"


def describe(options: Options, data: ImageData, config: dict[str, Any]) -> list[str]:
    """Return the facts of a run: network, versions, device, precision, data, recipe."""
    facts, size = config["provenance"], data.train_images.shape[-1]
    counts = f"{len(data.train_labels):,} images to learn from, {len(data.test_labels):,} held out"
    lines = [
        f"network    ResNet-18, CIFAR stem, width {options.width}: {config['parameters']:,} parameters",
        f"versions   PyTorch {facts['torch']}, Python {facts['python']}, {facts['system']}",
        f"device     {config['device']}",
        f"precision  {config['precision']}",
    ]
    if options.compile:
        lines.append(f"compile    {config['compile']}")
    lines += [
        f"data       {data.name}: {data.source}",
        f"           {counts}; {size}×{size} pixels, {data.classes} classes",
    ]
    if options.data_fraction < 1:
        lines.append(f"           that is {options.data_fraction:g} of the training images of each class")
    if options.label_noise > 0:
        accuracy, loss = noise_floor(options.label_noise, data.classes, data.label_smoothing)
        lines += [
            f"           {options.label_noise:g} of the training labels are wrong: a training accuracy above",
            f"           {accuracy:.1%} or a training loss below {loss:.3f} means memorising them",
        ]
    if data.best_accuracy is not None:
        lines.append(
            f"           the best possible rule is right for {data.best_accuracy:.2%} of such images"
        )
    images = options.batch_size * options.accumulate
    passes = f" in {options.accumulate} passes of {options.batch_size}" if options.accumulate > 1 else ""
    lines.append(
        f"recipe     {options.optimizer}, lr {options.lr:g} ({options.schedule}), weight decay "
        f"{options.weight_decay:g}, {config['total_steps']:,} steps of {images} "
        f"images{passes}, {config['steps_per_epoch']:,} per epoch, seed {options.seed}"
    )
    return lines


def epoch_line(epoch: int, step: int, result: dict[str, float], speed: float) -> str:
    """Return one line of the table under HEADER."""
    return (
        f"{epoch:5d} {step:6d} {result['train_loss']:11.4f} {result['train_accuracy']:10.2%} "
        f"{result['test_loss']:10.4f} {result['test_accuracy']:9.2%} {speed:9.0f}"
    )


def curves(options: Options, data: ImageData) -> tuple[Curves, Curves]:
    """Return what curves.png shows, with what wrong labels allow on average and what any rule can reach."""
    _, floor = noise_floor(options.label_noise, data.classes, data.label_smoothing)
    loss = Curves(
        "cross-entropy (nats)",
        {"training": "train_loss", "held out": "test_loss"},
        {"below: memorised": floor if options.label_noise > 0 else None},
        single="loss",
        logarithmic=True,  # it falls by factors, and the first epochs must not squeeze the rest
    )
    metrics = {"training": "train_accuracy", "held out": "test_accuracy"}
    return loss, Curves("accuracy", metrics, {"best possible": data.best_accuracy}, percent=True)


def conclude(run: RunFolder, options: Options, data: ImageData, state: TrainingState) -> list[str]:
    """Draw curves.png, write summary.json, and return the result in words."""
    progress, result = state.progress, state.progress["result"]
    accuracy, best, seconds = result["test_accuracy"], progress["best_score"], progress["seconds"]
    title = f"{data.name}, {options.optimizer}: {accuracy:.2%} of the held-out images right"
    draw_curves(run.metrics_file, run.path / "curves.png", title, curves(options, data))
    summary = {**result, "best_accuracy": best, "best_epoch": progress["best_epoch"], "seconds": seconds}
    replace_json(run.path / "summary.json", {**summary, "steps": state.step, "options": asdict(options)})
    count = len(data.test_labels)
    return [
        f"done       {accuracy:.2%} of {count:,} held-out images right, after {seconds:.1f} s",
        f"           best: {best:.2%} after epoch {progress['best_epoch']}",
        f"curves     {run.path / 'curves.png'}",
        f"weights    {run.last_checkpoint} and {run.best_checkpoint.name}",
    ]
