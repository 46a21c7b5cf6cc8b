"""The lines that runs of both programs have in common."""

from typing import Any

from examples.genomic_caduceus.options import GenomicOptions

HEADER = "epoch   step  train loss  accuracy  val loss  accuracy  sequences/s"


def network_line(options: GenomicOptions, config: dict[str, Any]) -> str:
    """Return what a run says of its network."""
    strands = "both strands" if options.rcps else "one strand"
    layers = f"{options.layers} layer{'s' * (options.layers > 1)}"
    return (
        f"network    bidirectional Mamba, {layers} of width {options.width}, "
        f"state {options.state}, {strands}: {config['parameters']:,} parameters"
    )


def epoch_line(epoch: int, step: int, result: dict[str, float], speed: float) -> str:
    """Return one line of the table under HEADER."""
    return (
        f"{epoch:5d} {step:6d} {result['train_loss']:11.4f} {result['train_accuracy']:9.2%} "
        f"{result['val_loss']:9.4f} {result['val_accuracy']:9.2%} {speed:12.0f}"
    )
