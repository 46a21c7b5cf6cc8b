"""Compare this example's network on a device and on the CPU, and list its operators that MPS lacks.

With no option: the default network of train.py, four batches of digits, a few seconds. Exit code 1 when the
results of the device are wrong.
"""

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

import torch
from torch.nn import functional as F

from examples.cifar_optimizers.image_data import ImageData, normalised
from examples.cifar_optimizers.model import ResNet18
from examples.cifar_optimizers.options import resolve
from examples.cifar_optimizers.train import load_for_training
from examples.programs.command_line import StrictParser, first_line
from snippets.compare_devices import Comparison, compare_devices
from snippets.device import pick_device
from snippets.errors import RunError, exit_with_one_line
from snippets.operator_recorder import OperatorRecorder, missing_on_mps
from snippets.operator_support import installed_list, read_operators
from snippets.precision import Precision, pick_precision
from snippets.seeds import seed_everything

BATCHES, SIZE = 4, 16  # a kink of ReLU affects one batch, not all; small batches have fewer kinks


def make_batches(data: ImageData) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Return pairs of images (SIZE, 3, size, size), not augmented, and labels (SIZE,), drawn at random."""
    indices = torch.randperm(len(data.train_labels))[: BATCHES * SIZE].split(SIZE)
    return [
        (normalised(data.train_images[chosen], data.mean, data.std), data.train_labels[chosen])
        for chosen in indices
    ]


# --8<-- [start:compare]
def compare(data: ImageData, width: int, precision: Precision) -> tuple[Comparison, dict[str, int]]:
    """Return the comparison for a new network, and the operators without MPS kernel that it calls."""
    model = ResNet18(data.classes, width)
    batches = make_batches(data)
    comparison = compare_devices(model, batches, F.cross_entropy, precision.device, precision.dtype)
    images, labels = batches[0]
    with OperatorRecorder() as recorder:
        F.cross_entropy(model(images), labels).backward()
    return comparison, missing_on_mps(recorder.counts, read_operators(installed_list()))


# --8<-- [end:compare]


def main(argv: Sequence[str] | None = None) -> int:
    """Print the comparison. Raises RunError when results are wrong or an operator is missing."""
    parser = StrictParser(prog="compare_devices.py", description=first_line(__doc__))
    parser.add_argument("--device", default="auto", choices=("auto", "mps", "cuda", "cpu"))
    parser.add_argument("--precision", default="fp32", choices=("fp32", "bf16", "fp16"))
    parser.add_argument("--data", default="digits", metavar="NAME|FOLDER", help="as in train.py; digits")
    typed = vars(parser.parse_args(argv))
    device, reason = pick_device(typed["device"])
    precision = pick_precision(typed["precision"], device)
    options = resolve(typed)
    data = load_for_training(options)
    print(f"device: {device} ({reason})")
    what = f"ResNet-18, width {options.width}; {BATCHES} batches of {SIZE} {data.name}"
    print(f"PyTorch {torch.__version__}; {what}")

    if device.type == "cuda":
        torch.backends.cudnn.allow_tf32 = False  # on by default; it rounds inputs of convolutions to 10 bits
    seed_everything(options.seed)
    comparison, missing = compare(data, options.width, precision)
    print(comparison.report())
    print(f"operators without an MPS kernel: {', '.join(missing) or 'none'}")
    if comparison.wrong:
        raise RunError(f"{device} computes {comparison.wrong[0].name} wrongly: train with --device cpu")
    if missing and device.type == "mps":
        raise RunError(f"MPS lacks {', '.join(missing)}: train with --device cpu")
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
