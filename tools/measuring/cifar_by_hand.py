"""One hand-written training loop: ResNet-18 (CIFAR stem, width 64), SGD, 50,000 images on the GPU.

Everything of a step happens on the device and can be one CUDA graph: choosing the batch from the epoch's
permutation, crop and flip, normalisation, forward, backward, learning rate, update, sum of losses. The host
only replays, draws new permutations, and reads the loss every 25 steps.
No image is dropped: batches come from a stream of permutations, one per epoch.
"""

import argparse
import json
import math
import statistics
import time
from dataclasses import asdict, dataclass, replace

import torch
from torch import nn
from torch.nn import functional as F

LR, MOMENTUM, DECAY = 0.1, 0.9, 5e-4
PADDING, CLASSES, SIDE = 4, 10, 32
MEAN, STD = (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)
EPOCHS = 200  # of the cosine schedule
READ_EVERY = 25  # steps between two readings of the loss


@dataclass(frozen=True, kw_only=True)
class Mode:
    """How a step is executed. None of these changes what it computes, except the precision."""

    precision: str = "fp32"  # bf16: autocast or its equal, see `update`
    tf32: bool = False
    batch: int = 128
    compile: str = ""  # "", default, pointwise, reduce-overhead, max-autotune
    graphs: bool = False
    layout: str = "nhwc"
    update: str = "fused"  # plain, foreach, fused: torch.optim.SGD.  flat: one kernel over all weights;
    # with bf16 the network then holds bf16 copies of the fp32 weights, where autocast makes them each step
    stem: int = 3  # channels of the input; more than 3: filled with zeros, for aligned tensor-core kernels
    unroll: int = 1  # steps per graph
    search: int = 10  # algorithms that cuDNN tries per convolution; 0: all


GRAPH = {"compile": "default", "graphs": True}
LOW = {**GRAPH, "update": "flat", "stem": 8}
BEST: dict[tuple[str, bool, int], dict] = {  # precision, TF32, batch: measured on one H200, PyTorch 2.11
    ("bf16", False, 128): {**LOW, "unroll": 5},
    ("bf16", False, 512): LOW,
    ("fp32", True, 128): GRAPH,
    ("fp32", True, 512): GRAPH,
    ("fp32", False, 128): {**GRAPH, "layout": "nchw"},
    ("fp32", False, 512): {**GRAPH, "layout": "nchw"},
}


class Norm(nn.Module):
    """nn.BatchNorm2d without its counter of batches, which nothing reads when momentum is a number."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(channels)), nn.Parameter(torch.zeros(channels))
        self.register_buffer("running_mean", torch.zeros(channels))
        self.register_buffer("running_var", torch.ones(channels))

    def forward(self, x):
        return F.batch_norm(
            x, self.running_mean, self.running_var, self.weight, self.bias, self.training, 0.1, 1e-5
        )


def conv(inputs, outputs, size=3, stride=1):
    return nn.Conv2d(inputs, outputs, size, stride=stride, padding=size // 2, bias=False)


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1, self.norm1 = conv(inputs, outputs, 3, stride), Norm(outputs)
        self.conv2, self.norm2 = conv(outputs, outputs), Norm(outputs)
        self.shortcut = nn.Sequential()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(conv(inputs, outputs, 1, stride), Norm(outputs))

    def forward(self, x):
        y = F.relu(self.norm1(self.conv1(x)))
        return F.relu(self.norm2(self.conv2(y)) + self.shortcut(x))


class Network(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.stem, self.norm = conv(3, width), Norm(width)
        blocks, inputs = [], width
        for outputs, stride in [(width, 1), (2 * width, 2), (4 * width, 2), (8 * width, 2)]:
            blocks += [Block(inputs, outputs, stride), Block(outputs, outputs, 1)]
            inputs = outputs
        self.blocks, self.head = nn.Sequential(*blocks), nn.Linear(inputs, CLASSES)

    def forward(self, x):
        more = x.shape[1] - 3  # channels of zeros, so their filter weights do not matter
        weight = F.pad(self.stem.weight, (0, 0, 0, 0, 0, more)) if more else self.stem.weight
        x = F.relu(self.norm(F.conv2d(x, weight, padding=1)))
        return self.head(self.blocks(x).mean(dim=(2, 3)))


def generated(count, device, seed=0):
    """Images uint8 (count, side, side, 3), a noisy pattern per class, and labels."""
    generator = torch.Generator(device).manual_seed(seed)
    labels = torch.randint(0, CLASSES, (count,), device=device, generator=generator)
    pattern = torch.randn(CLASSES, 3, 4, 4, device=device, generator=generator)
    pattern = F.interpolate(pattern, SIDE, mode="bilinear").permute(0, 2, 3, 1) * 12 + 128
    images = torch.empty(count, SIDE, SIDE, 3, dtype=torch.uint8, device=device)
    for start in range(0, count, 5000):
        part = labels[start : start + 5000]
        noise = torch.randn(len(part), SIDE, SIDE, 3, device=device, generator=generator)
        images[start : start + 5000] = (pattern[part] + 50 * noise).clamp(0, 255).to(torch.uint8)
    return images, labels


class Trainer:
    """Network, data, state, and `step`. `draws`: fixed (dy, dx, mirrored) per place, to verify."""

    def __init__(self, mode, images, labels, width=64, seed=0, draws=None):
        self.mode, self.images, self.labels, self.draws = mode, images, labels, draws
        self.device = device = images.device
        cuda = device.type == "cuda"
        torch.backends.cudnn.benchmark, torch.backends.cudnn.benchmark_limit = True, mode.search
        torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = mode.tf32
        torch.manual_seed(seed)
        self.network = Network(width).to(device)
        if mode.layout == "nhwc":
            self.network.to(memory_format=torch.channels_last)
        self.mean, self.std = (torch.tensor(v, device=device) * 255 for v in (MEAN, STD))
        count = len(images)
        self.epochs = mode.batch // math.gcd(count, mode.batch)  # after them an epoch ends with a batch
        self.order = torch.empty(self.epochs * count, dtype=torch.int64, device=device)
        self.steps = self.epochs * count // mode.batch  # until new permutations
        self.total = EPOCHS * count / mode.batch
        self.place, self.number = (torch.zeros((), dtype=torch.int64, device=device) for _ in range(2))
        self.rate, self.losses = torch.tensor(LR, device=device), torch.zeros((), device=device)
        self.shuffle()
        self.flat = mode.update == "flat"
        if self.flat:
            self.flatten()
        else:
            self.optimizer = torch.optim.SGD(
                self.network.parameters(), lr=self.rate, momentum=MOMENTUM, weight_decay=DECAY,
                foreach=mode.update == "foreach", fused=mode.update == "fused",
            )  # fmt: skip
        self.leaves = list(self.network.parameters())
        self.loss, self.tick, self.change = self.loss_of_batch, self.count_step, self.change_flat
        if mode.compile:
            self.compile(mode, cuda)

    def compile(self, mode, cuda):
        torch._dynamo.reset()
        import torch._inductor.config as inductor

        inductor.layout_optimization = mode.layout == "nhwc"
        how = {"options": {"max_autotune_pointwise": True}} if mode.compile == "pointwise" else {}
        if mode.compile == "max-autotune":
            how = {"mode": "max-autotune-no-cudagraphs" if mode.graphs else "max-autotune"}
        if mode.compile == "reduce-overhead":
            how = {"mode": "reduce-overhead"}
        self.loss = torch.compile(self.loss_of_batch, dynamic=False, fullgraph=True, **how)
        self.tick = torch.compile(self.count_step, dynamic=False)
        self.change = torch.compile(self.change_flat, dynamic=False)

    def shuffle(self):
        """Draw the permutations of the next epochs."""
        count = len(self.images)
        for epoch in range(self.epochs):
            torch.randperm(count, device=self.device, out=self.order[epoch * count : (epoch + 1) * count])
        self.place.zero_()

    def flatten(self):
        """Put weights behind each other: those that autocast makes bf16, and those that it keeps."""
        norms = {id(p) for m in self.network.modules() if isinstance(m, Norm) for p in m.parameters()}
        self.parts = []
        for kept in (False, True):
            named = [(n, p) for n, p in self.network.named_parameters() if (id(p) in norms) == kept]
            low = self.mode.precision == "bf16" and not kept
            weights = torch.cat([self.line(p.detach()) for _, p in named])
            used = weights.to(torch.bfloat16) if low else weights
            start = 0
            for name, old in named:
                piece = used[start : start + old.numel()]
                start += old.numel()
                if old.ndim == 4 and self.mode.layout == "nhwc":
                    o, i, h, w = old.shape
                    view = piece.view(o, h, w, i).permute(0, 3, 1, 2)
                else:
                    view = piece.view(old.shape)
                module, _, leaf = name.rpartition(".")
                setattr(self.network.get_submodule(module), leaf, nn.Parameter(view))
            self.parts.append((kept, weights, torch.zeros_like(weights), used, [n for n, _ in named]))
        self.kept = [n in self.parts[1][4] for n, _ in self.network.named_parameters()]

    def line(self, tensor):
        """Return a tensor as one row, in the order of its memory."""
        if tensor.ndim == 4 and self.mode.layout == "nhwc":
            tensor = tensor.permute(0, 2, 3, 1)
        return tensor.reshape(-1)

    def batch(self):
        """Choose the next batch, move, mirror and normalise its images; one kernel when compiled."""
        size, device = self.mode.batch, self.device
        places = self.place + torch.arange(size, device=device)
        chosen = self.order[places]
        if self.draws is None:
            dy = torch.randint(0, 2 * PADDING + 1, (size,), device=device)
            dx = torch.randint(0, 2 * PADDING + 1, (size,), device=device)
            mirrored = torch.rand(size, device=device) < 0.5
        else:
            dy, dx, mirrored = (table[places] for table in self.draws)
        line = torch.arange(SIDE, device=device)
        columns = torch.where(mirrored[:, None], SIDE - 1 - line, line)
        rows = (line + dy[:, None] - PADDING)[:, :, None, None]
        columns = (columns + dx[:, None] - PADDING)[:, None, :, None]
        inside = (rows >= 0) & (rows < SIDE) & (columns >= 0) & (columns < SIDE)
        channel = torch.arange(3, device=device)
        x = self.images[
            chosen[:, None, None, None], rows.clamp(0, SIDE - 1), columns.clamp(0, SIDE - 1), channel
        ]
        x = (torch.where(inside, x.float(), 0.0) - self.mean) / self.std
        if self.mode.stem > 3:
            x = F.pad(x, (0, self.mode.stem - 3))
        x = x.permute(0, 3, 1, 2)  # channels last in memory
        if self.mode.layout == "nchw":
            x = x.contiguous()
        return x, self.labels[chosen]

    def loss_of_batch(self):
        x, labels = self.batch()
        low = self.mode.precision == "bf16"
        with torch.autocast(self.device.type, torch.bfloat16, enabled=low and not self.flat):
            scores = self.network(x.bfloat16() if low and self.flat else x)
        return F.cross_entropy(scores.float(), labels)

    def count_step(self, loss):
        self.losses.add_(loss)
        share = (self.number.float() / self.total).clamp(max=1.0)
        self.rate.copy_(LR * 0.5 * (1 + torch.cos(math.pi * share)))
        self.number.add_(1)
        self.place.add_(self.mode.batch)

    @staticmethod
    def change_flat(weights, momentum, gradient, used, rate, low: bool):
        momentum.copy_(MOMENTUM * momentum + (gradient.float() + DECAY * weights))
        weights.sub_(rate * momentum)
        if low:
            used.copy_(weights)

    def step(self):
        loss = self.loss()
        gradients = torch.autograd.grad(loss, self.leaves)
        with torch.no_grad():
            self.tick(loss.detach())
            if not self.flat:
                for leaf, gradient in zip(self.leaves, gradients, strict=True):
                    leaf.grad = gradient
                self.optimizer.step()
                self.optimizer.zero_grad(set_to_none=True)
                return
            for kept, weights, momentum, used, _ in self.parts:
                pairs = zip(gradients, self.kept, strict=True)
                gradient = torch.cat([self.line(g) for g, is_kept in pairs if is_kept == kept])
                self.change(weights, momentum, gradient, used, self.rate, used is not weights)

    def weights(self):
        """Return all fp32 weights as one vector, in the order of the network and of plain memory."""
        if not self.flat:
            return torch.cat([p.detach().reshape(-1) for p in self.network.parameters()])
        found = {}
        for _, weights, _, _, names in self.parts:
            start = 0
            for name in names:
                shape = self.network.get_parameter(name).shape
                piece = weights[start : start + shape.numel()]
                start += shape.numel()
                if len(shape) == 4 and self.mode.layout == "nhwc":
                    o, i, h, w = shape
                    piece = piece.view(o, h, w, i).permute(0, 3, 1, 2)
                found[name] = piece.reshape(-1)
        return torch.cat([found[n] for n, _ in self.network.named_parameters()])

    def prepare(self, warm=6):
        """Warm up, then capture if asked. Return a function that does `unroll` steps."""
        if self.device.type != "cuda" or not self.mode.graphs:
            for _ in range(warm):
                self.step()
            if self.device.type == "cuda":
                torch.cuda.synchronize()
                torch.cuda.empty_cache()
                torch.cuda.reset_peak_memory_stats()
            return lambda: [self.step() for _ in range(self.mode.unroll)]
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(warm):
                self.step()
        torch.cuda.current_stream().wait_stream(stream)
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(self.mode.unroll):
                self.step()
        self.graph = graph
        return graph.replay


def measure(mode, seconds=15.0, count=50_000, width=64, device="cuda", window=1.0):
    """Train for `seconds` and return what it did, as a dictionary for JSON."""
    cuda = device == "cuda"
    wait = torch.cuda.synchronize if cuda else lambda: None
    images, labels = generated(count, torch.device(device))
    began = time.perf_counter()
    trainer = Trainer(mode, images, labels, width)
    advance = trainer.prepare()
    trainer.shuffle()
    trainer.losses.zero_()
    wait()
    ready, done, last = time.perf_counter() - began, 0, []

    def chunk():
        nonlocal done
        for _ in range(READ_EVERY // mode.unroll):
            advance()
        done += READ_EVERY
        last.append(trainer.losses.item() / READ_EVERY)
        trainer.losses.zero_()
        if not math.isfinite(last[-1]):
            raise RuntimeError(f"loss {last[-1]} after {done} steps")
        if done % trainer.steps == 0:
            trainer.shuffle()

    assert trainer.steps % READ_EVERY == 0 and READ_EVERY % mode.unroll == 0
    start = time.perf_counter()
    while time.perf_counter() - start < min(2.0, seconds / 3) or not last:  # clocks settle
        chunk()
    wait()
    chunks = max(1, round(window * len(last) / (time.perf_counter() - start)))
    rates, start = [], time.perf_counter()
    while time.perf_counter() - start < seconds or not rates:
        began = time.perf_counter()
        for _ in range(chunks):
            chunk()
        wait()
        rates.append(chunks * READ_EVERY * mode.batch / (time.perf_counter() - began))
    result = {
        "mode": asdict(mode),
        "images_per_s": round(statistics.median(rates)),
        "low": round(min(rates)),
        "high": round(max(rates)),
        "windows": len(rates),
        "steps_per_window": chunks * READ_EVERY,
        "ready_s": round(ready, 1),
        "first_loss": round(last[0], 4),
        "last_loss": round(last[-1], 4),
        "steps": done,
        "torch": torch.__version__,
    }
    if cuda:
        result |= {
            "peak_allocated_mib": torch.cuda.max_memory_allocated() >> 20,
            "peak_reserved_mib": torch.cuda.max_memory_reserved() >> 20,
            "card": torch.cuda.get_device_name(),
            "cudnn": torch.backends.cudnn.version(),
        }
    return result


def reference(images, labels, order, draws, batch, steps, width, low, seed=0):
    """Plain eager steps: F.pad and slices, torch.optim.SGD, rate set by the host. Return weights, losses."""
    device = images.device
    torch.manual_seed(seed)
    network = Network(width).to(device)
    optimizer = torch.optim.SGD(
        network.parameters(), lr=LR, momentum=MOMENTUM, weight_decay=DECAY, foreach=False
    )
    mean, std = (torch.tensor(v, device=device).view(3, 1, 1) for v in (MEAN, STD))
    vector = lambda: torch.cat([p.detach().reshape(-1) for p in network.parameters()])  # noqa: E731
    weights, losses = [vector()], []
    for number in range(steps):
        places = range(number * batch, (number + 1) * batch)
        pictures = []
        for place in places:
            picture = F.pad(images[order[place]].permute(2, 0, 1), (PADDING,) * 4)
            dy, dx, mirrored = (int(table[place]) for table in draws)
            picture = picture[:, dy : dy + SIDE, dx : dx + SIDE]
            pictures.append(picture.flip(2) if mirrored else picture)
        x = (torch.stack(pictures).float() / 255 - mean) / std
        share = min(1.0, number / (EPOCHS * len(images) / batch))
        optimizer.param_groups[0]["lr"] = LR * 0.5 * (1 + math.cos(math.pi * share))
        with torch.autocast(device.type, torch.bfloat16, enabled=low):
            scores = network(x)
        loss = F.cross_entropy(scores.float(), labels[order[places.start : places.stop]])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        weights.append(vector())
        losses.append(loss.item())
    return weights, losses


def verify(mode, count=50_000, width=64, device="cuda", steps=3):
    """Compare the first steps with eager ones in fp32, beside eager ones in the same precision."""
    images, labels = generated(count, torch.device(device))
    places = mode.batch // math.gcd(count, mode.batch) * count
    generator = torch.Generator(device).manual_seed(7)
    draws = [
        torch.randint(0, high, (places,), device=device, generator=generator)
        for high in (2 * PADDING + 1, 2 * PADDING + 1, 2)
    ]
    draws[2] = draws[2].bool()
    trainer = Trainer(mode, images, labels, width, draws=draws)
    start = trainer.weights().clone()
    order, ours, seen = trainer.order.clone(), [], []
    for _ in range(steps):
        trainer.losses.zero_()
        trainer.step()
        ours.append(trainer.weights().clone())
        seen.append(trainer.losses.item())
    arguments = (images, labels, order, draws, mode.batch, steps, width)
    if device == "cuda":
        torch.backends.cudnn.benchmark = False
    same, same_losses = reference(*arguments, mode.precision == "bf16")
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    exact, exact_losses = reference(*arguments, False)
    assert torch.equal(start, exact[0]), "other first weights"

    def error(weights, number):
        change = exact[number] - exact[0]
        return ((weights - exact[number]).norm() / change.norm()).item()

    result = {
        "verify": asdict(mode),
        "error_first_update": error(ours[0], 1),
        "error_first_update_eager_same_precision": error(same[1], 1),
        "losses": seen,
        "losses_eager_same_precision": same_losses,
        "losses_eager_fp32": exact_losses,
    }
    result["pass"] = error(ours[0], 1) <= max(1.3 * error(same[1], 1), 2e-3)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--precision", choices=("fp32", "bf16"), default="fp32")
    parser.add_argument("--tf32", action="store_true")
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--compile", nargs="?", const="default", default="")
    parser.add_argument("--graphs", action="store_true")
    parser.add_argument("--layout", choices=("nhwc", "nchw"), default="nhwc")
    parser.add_argument("--update", choices=("plain", "foreach", "fused", "flat"), default="fused")
    parser.add_argument("--stem", type=int, default=3)
    parser.add_argument("--unroll", type=int, default=1)
    parser.add_argument("--search", type=int, default=10)
    parser.add_argument("--best", action="store_true", help="the fastest for --precision, --tf32, --batch")
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--images", type=int, default=50_000)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--verify", action="store_true", help="compare three steps with plain eager ones")
    typed = parser.parse_args()
    mode = Mode(**{name: getattr(typed, name) for name in Mode.__dataclass_fields__})
    if typed.best:
        mode = replace(mode, **BEST[mode.precision, mode.tf32, mode.batch])
    if typed.verify:
        print(json.dumps(verify(mode, typed.images, typed.width, typed.device)), flush=True)
    if typed.seconds:
        print(json.dumps(measure(mode, typed.seconds, typed.images, typed.width, typed.device)), flush=True)


if __name__ == "__main__":
    main()
