"""Train one small network in PyTorch and in MLX, from the same weights, and compare loss and time per step.

    python -m pip install mlx
    python -m snippets.compare_with_mlx

To compare your own model, put it in place of the two networks.
"""

import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

try:
    import mlx.core as mx
    import mlx.nn
    import mlx.optimizers
    import torch
    from torch import nn
    from torch.nn import functional as F

    from snippets.device import typed_device
    from snippets.errors import RunError, exit_with_one_line
    from snippets.mlx_weights import export_weights
    from snippets.seeds import seed_everything
    from snippets.timing import measure, spread
except ModuleNotFoundError as missing:
    print(
        f"error: this Python has no module {missing.name!r}; for MLX: python -m pip install mlx "
        "(on Linux mlx[cpu]); for the others: source .venv/bin/activate",
        file=sys.stderr,
    )
    sys.exit(2)

BATCH, SIZE, WIDTH, CLASSES = 64, 32, 64, 10
LEARNING_RATE = 1e-3
WARM_UP, REPEATS = 10, 30
LARGEST_DIFFERENCE = 0.01  # relative, of the last losses: both frameworks train the same network


# --8<-- [start:torch_network]
class TorchNetwork(nn.Module):
    """A convolution with batch normalization, the mean over the image, and a linear layer."""

    def __init__(self, width: int, classes: int) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU()
        )
        self.head = nn.Linear(width, classes)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Map (batch, 3, size, size) to class scores (batch, classes)."""
        return self.head(self.stem(images).mean(dim=(2, 3)))


# --8<-- [end:torch_network]
# --8<-- [start:mlx_network]
class MlxNetwork(mlx.nn.Module):
    """The same network in MLX."""

    def __init__(self, width: int, classes: int) -> None:
        super().__init__()
        self.stem = mlx.nn.Sequential(
            mlx.nn.Conv2d(3, width, 3, padding=1, bias=False), mlx.nn.BatchNorm(width), mlx.nn.ReLU()
        )
        self.head = mlx.nn.Linear(width, classes)

    def __call__(self, images: mx.array) -> mx.array:
        """Map (batch, size, size, 3) to class scores (batch, classes)."""
        return self.head(self.stem(images).mean(axis=(1, 2)))


# --8<-- [end:mlx_network]
# --8<-- [start:torch_step]
def torch_step(
    model: nn.Module, optimizer: torch.optim.Optimizer, images: torch.Tensor, labels: torch.Tensor
) -> torch.Tensor:
    """Train `model` with one batch and return its loss."""
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    return loss.detach()


# --8<-- [end:torch_step]
# --8<-- [start:mlx_step]
def make_mlx_step(
    model: mlx.nn.Module, optimizer: mlx.optimizers.Optimizer, *, compiled: bool = True
) -> Callable[[mx.array, mx.array], mx.array]:
    """Return a function (images, labels) -> loss that trains `model` with one batch."""

    def loss_of(model: mlx.nn.Module, images: mx.array, labels: mx.array) -> mx.array:
        return mlx.nn.losses.cross_entropy(model(images), labels, reduction="mean")

    loss_and_gradients = mlx.nn.value_and_grad(model, loss_of)

    def update(images: mx.array, labels: mx.array) -> mx.array:
        loss, gradients = loss_and_gradients(model, images, labels)
        optimizer.update(model, gradients)
        return loss

    state = [model.state, optimizer.state]  # with dropout, add mx.random.state
    if compiled:
        update = partial(mx.compile, inputs=state, outputs=state)(update)

    def step(images: mx.array, labels: mx.array) -> mx.array:
        loss = update(images, labels)
        mx.eval(loss, state)  # MLX computes only here
        return loss

    return step


# --8<-- [end:mlx_step]
# --8<-- [start:same_weights]
def in_mlx(model: TorchNetwork) -> MlxNetwork:
    """Return an MLX network with the weights of `model`, passed through a file."""
    port = MlxNetwork(model.head.in_features, model.head.out_features)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "weights.npz"
        export_weights(model, path)
        port.load_weights(str(path))  # ValueError when a name or a shape does not fit
        mx.eval(port.parameters())  # read now: the file is about to disappear
    return port


# --8<-- [end:same_weights]
# --8<-- [start:optimizers]
def optimizers(model: nn.Module) -> tuple[torch.optim.Optimizer, mlx.optimizers.Optimizer]:
    """Return AdamW for both. MLX needs `bias_correction=True` to match PyTorch."""
    ours = torch.optim.AdamW(model.parameters(), LEARNING_RATE, weight_decay=0.01)
    theirs = mlx.optimizers.AdamW(LEARNING_RATE, weight_decay=0.01, bias_correction=True)
    return ours, theirs


# --8<-- [end:optimizers]
def line(name: str, where: str, seconds: list[float], loss: float) -> str:
    """Return one line of the report: median and spread of the seconds per step, and the last loss."""
    found = spread(seconds)
    limits = f"{1e3 * found.low:.2f} to {1e3 * found.high:.2f}"
    return f"{name:<16} {where:<5} {1e3 * found.median:8.2f} ms per step ({limits}), last loss {loss:.4f}"


def check_losses(ours: float, theirs: float) -> None:
    """Raise RunError when the last losses differ by more than LARGEST_DIFFERENCE."""
    if not abs(ours - theirs) <= LARGEST_DIFFERENCE * abs(ours):
        raise RunError(
            f"PyTorch ends at a loss of {ours:.4f} and MLX at {theirs:.4f}: they do not compute the same, "
            "so the times cannot be compared; look for a difference in model, optimizer or precision"
        )


def main(argv: Sequence[str] | None = None) -> int:
    """Compare both on the device that the command line names, or the best one."""
    device, reason = typed_device(argv)
    if device.type == "cpu":
        mx.set_default_device(mx.cpu)
    seed_everything(0)
    model = TorchNetwork(WIDTH, CLASSES)
    images, labels = torch.rand(BATCH, 3, SIZE, SIZE), torch.randint(CLASSES, (BATCH,))
    port = in_mlx(model)
    port_images, port_labels = mx.array(images.permute(0, 2, 3, 1).numpy()), mx.array(labels.numpy())
    model, images, labels = model.to(device), images.to(device), labels.to(device)
    ours, theirs = optimizers(model)
    on_gpu = mx.default_device().type == mx.gpu
    step = make_mlx_step(port, theirs, compiled=on_gpu)  # for the CPU, MLX would run a C++ compiler
    losses: list[torch.Tensor] = []
    port_losses: list[mx.array] = []
    seconds = measure(
        lambda: losses.append(torch_step(model, ours, images, labels)),
        device,
        warm_up=WARM_UP,
        repeats=REPEATS,
    )
    port_seconds = measure(  # a step already waits for MLX, so the CPU is the device to wait for
        lambda: port_losses.append(step(port_images, port_labels)),
        torch.device("cpu"),
        warm_up=WARM_UP,
        repeats=REPEATS,
    )
    last, port_last = losses[-1].item(), port_losses[-1].item()
    print(f"{BATCH} images of {SIZE} × {SIZE}, width {WIDTH}, float32, AdamW; {device} ({reason})")
    print(line(f"PyTorch {torch.__version__.partition('+')[0]}", device.type, seconds, last))
    print(line(f"MLX {mx.__version__}", mx.default_device().type.name, port_seconds, port_last))
    check_losses(last, port_last)
    return 0


if __name__ == "__main__":
    sys.exit(exit_with_one_line(main))
