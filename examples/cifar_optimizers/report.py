"""The report of a run: its settings, a line per epoch, and its result."""

from typing import TYPE_CHECKING, Any

from examples.cifar_optimizers.data_facts import file_facts
from examples.cifar_optimizers.image_data import ImageData, noise_floor
from examples.cifar_optimizers.options import Options
from examples.programs.report import Curves, draw_curves, machine_lines, recipe_line, write_summary
from examples.programs.run_folder import RunFolder

if TYPE_CHECKING:
    from examples.cifar_optimizers.train import ImageClassification

HEADER = "epoch   step  train loss  train acc  test loss  test acc  images/s"


def describe(task: "ImageClassification", config: dict[str, Any]) -> list[str]:
    """Return the settings of a run as lines: network, versions, device, precision, data, recipe."""
    options, data = task.options, task.data
    counts = f"{len(data.train_labels):,} images to learn from, {len(data.test_labels):,} held out"
    size = data.train_images.shape[-1]
    lines = [
        f"network    ResNet-18, CIFAR stem, width {options.width}: {config['parameters']:,} parameters",
        *machine_lines(config),
        f"data       {data.name}: {data.source}",
        f"           {counts}; {size}×{size} pixels, {data.classes} classes",
        *(f"           {line}" for line in file_facts(data)),
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
    learning = f"{options.optimizer}, lr {options.lr:g} ({options.schedule})"
    return [*lines, recipe_line(options, config, learning, "images")]


def epoch_line(epoch: int, step: int, result: dict[str, float], speed: float) -> str:
    """Return one line of the table under HEADER."""
    return (
        f"{epoch:5d} {step:6d} {result['train_loss']:11.4f} {result['train_accuracy']:10.2%} "
        f"{result['test_loss']:10.4f} {result['test_accuracy']:9.2%} {speed:9.0f}"
    )


def curves(options: Options, data: ImageData) -> tuple[Curves, Curves]:
    """Return the panels of curves.png, with the limits that wrong labels and the data set impose."""
    _, floor = noise_floor(options.label_noise, data.classes, data.label_smoothing)
    loss = Curves(
        "cross-entropy (nats)",
        {"training": "train_loss", "held out": "test_loss"},
        {"below: memorised": floor if options.label_noise > 0 else None},
        single="loss",
        logarithmic=True,  # it falls by orders of magnitude
    )
    metrics = {"training": "train_accuracy", "held out": "test_accuracy"}
    return loss, Curves("accuracy", metrics, {"best possible": data.best_accuracy}, percent=True)


def conclude(task: "ImageClassification", run: RunFolder) -> list[str]:
    """Draw curves.png, write summary.json, and return the lines about the result."""
    options, data, progress = task.options, task.data, task.state.progress
    accuracy, best = progress["result"]["test_accuracy"], progress["best_score"]
    title = f"{data.name}, {options.optimizer}: {accuracy:.2%} of the held-out images right"
    draw_curves(run.metrics_file, run.path / "curves.png", title, curves(options, data))
    count = len(data.test_labels)
    return [
        f"done       {accuracy:.2%} of {count:,} held-out images right, after {progress['seconds']:.1f} s",
        f"           best: {best:.2%} after epoch {progress['best_epoch']}",
        *write_summary(run, options, task.state, best_accuracy=best),
    ]
