# --8<-- [start:file]
# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.13", "numpy"]
# ///
"""Train a diffusion model that draws the corners of floor plans, on one page.

    python single_file.py        with PyTorch and NumPy installed
    uv run single_file.py        installs both by itself

It needs no other file and downloads nothing: it draws plans by a rule, learns to see the noise in
noisy corners, and makes new plans out of noise. For plans of your own, replace `draw_plans`.
"""

import copy
import math
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path

import numpy
import torch
from torch import Tensor, nn
from torch.nn import functional as F

# ---- Settings ---------------------------------------------------------------------------------

PLANS = 4_000  # to learn from; a fifth as many are held out
EPOCHS = 24  # passes over the plans
BATCH_SIZE = 64  # plans per step
LEARNING_RATE = 1e-2  # of both optimizers; it rises for 50 steps and falls to 0 like a cosine
WEIGHT_DECAY, MAX_NORM = 0.0, 1.0  # all gradients together are shortened to the second
EMA = 0.995  # how much of the averaged weights stays at each step
PLACE_WEIGHT, ALIGNMENT = 20.0, 1.0  # in the loss: of noise in x and y, of corners out of line
FOCUS = 2.0  # above 1, more of the steps have little noise
WIDTH, LAYERS, HEADS = 64, 4, 4  # of the transformer
STEPS, SAMPLES = 1000, 32  # from a plan to pure noise; plans to make at the end
SEED = 0  # of plans, weights, order and noise: the same seed trains the same network on the CPU
DEVICE = ""  # "cuda", "mps" or "cpu"; empty: the accelerator, where there is one
WEIGHTS = "corners.pt"  # the averaged network is written here

CANVAS, GRID = 256, 8  # pixels: of each side, and between the lines on which walls may stand
KINDS = ("living room", "bedroom", "storage", "kitchen", "bathroom", "balcony", "outside")
CHANNELS = 2 + len(KINDS) + 1  # x, y, the kinds of rooms around, and whether the corner is padding
PADDING = [0.0, 0.0] + [-1.0] * len(KINDS) + [1.0]  # fills up plans that have fewer corners

# ---- Data -------------------------------------------------------------------------------------


def draw_rooms(random: numpy.random.Generator) -> list[tuple[int, ...]]:
    """Return rooms (area, left, top, right, bottom), after cutting the largest each time, or []."""
    width, height = (GRID * random.integers(120 // GRID, 216 // GRID + 1, 2)).tolist()
    left, top = ((CANVAS - side) // 2 // GRID * GRID for side in (width, height))
    rooms = [(0, left, top, left + width, top + height)]
    lines = [{left, left + width}, {top, top + height}]  # no two cuts are on one line
    wanted = int(random.integers(4, 9))
    cut_out = random.random() < 0.5  # a room at a corner becomes a part of the garden
    while len(rooms) < wanted + cut_out:
        rooms.sort(key=lambda room: room[0])
        _, *ends = rooms.pop()
        axis = 0 if ends[2] - ends[0] >= ends[3] - ends[1] else 1  # across the longer side
        free = set(range(ends[axis] + 24, ends[axis + 2] - 23, GRID)) - lines[axis]
        if not free:
            return []  # there is no place left
        place = int(random.choice(sorted(free)))
        lines[axis].add(place)
        for edge in (axis + 2, axis):
            a, b, c, d = (place if side == edge else end for side, end in enumerate(ends))
            rooms.append(((c - a) * (d - b), a, b, c, d))
    if cut_out:
        x, y = (int(random.choice(ends)) for ends in ((left, left + width), (top, top + height)))
        rooms = [room for room in rooms if not (x in room[1::2] and y in room[2::2])]
    return sorted(rooms)


def corners_of(rooms: list[tuple[int, ...]]) -> list[list[float]]:
    """Return the channels of each corner, from -1 to 1. The sizes of rooms decide what they are."""
    names = ["bathroom", "kitchen", "storage", "balcony"][: max(2, min(4, len(rooms) - 3))]
    names += ["bedroom"] * (len(rooms) - 1 - len(names)) + ["living room"]
    corners = []
    for x, y in sorted({(x, y) for room in rooms for x in room[1::2] for y in room[2::2]}):
        found, quarters = set(), 0  # of the surroundings that are in rooms
        for (_, left, top, right, bottom), name in zip(rooms, names, strict=True):
            if left <= x <= right and top <= y <= bottom:
                found.add(name)
                quarters += ((left < x) + (x < right)) * ((top < y) + (y < bottom))
        bits = [2.0 * (kind in found) - 1 for kind in KINDS[:-1]] + [2.0 * (quarters < 4) - 1]
        corners.append([x / (CANVAS / 2) - 1, y / (CANVAS / 2) - 1, *bits, -1.0])
    return corners


def draw_plans() -> tuple[Tensor, Tensor]:
    """Return plans to learn from and held-out ones, each (plans, corners, 10)."""
    plans, fewer = list[list[list[float]]](), max(8, PLANS // 10)
    for part, count in enumerate((PLANS, PLANS + fewer, PLANS + 2 * fewer)):
        random = numpy.random.default_rng([SEED, part])
        while len(plans) < count:
            if rooms := draw_rooms(random):
                plans.append(corners_of(rooms))
    most = max(map(len, plans))
    nodes = torch.tensor([plan + [PADDING] * (most - len(plan)) for plan in plans])
    return nodes[:PLANS], nodes[PLANS:]


# ---- Network ----------------------------------------------------------------------------------


def sinusoids(values: Tensor, width: int, slowest: float) -> Tensor:
    """Return sines and cosines of values (…) at frequencies from 1 to `slowest`, (…, width)."""
    exponents = torch.linspace(0, math.log(slowest), width // 2, device=values.device)
    angles = values.unsqueeze(-1) * exponents.exp()
    return torch.cat([angles.sin(), angles.cos()], -1)


class Layer(nn.Module):
    """Attention among the corners of a plan, then a network for each. Neither knows their order."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        """Map (plans, corners, WIDTH) to the same shape."""
        qkv = self.qkv(F.layer_norm(x, [WIDTH])).unflatten(-1, (3, HEADS, -1))
        found = F.scaled_dot_product_attention(*qkv.permute(2, 0, 3, 1, 4))
        x = x + self.out(found.transpose(1, 2).flatten(2))
        return x + self.down(F.relu(self.up(F.layer_norm(x, [WIDTH]))))


class NodeNetwork(nn.Module):
    """A transformer that sees the noise in noisy corners."""

    def __init__(self) -> None:
        super().__init__()
        self.place = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.SiLU(), nn.Linear(WIDTH, WIDTH))
        self.bits = nn.Linear(CHANNELS - 2, WIDTH)
        self.time = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.SiLU(), nn.Linear(WIDTH, WIDTH))
        self.layers = nn.Sequential(*(Layer() for _ in range(LAYERS)))
        for name, numbers in (("noise_xy", 2), ("noise_bits", CHANNELS - 2)):
            hidden = nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU()
            setattr(self, name, nn.Sequential(*hidden, nn.Linear(WIDTH, numbers)))

    def forward(self, nodes: Tensor, steps: Tensor) -> Tensor:
        """Return the noise in nodes (plans, corners, 10) at steps (plans,)."""
        pixels = (nodes[..., :2] + 1) * (CANVAS / 2)
        x = self.place(sinusoids(pixels, WIDTH // 2, 0.01).flatten(2)) + self.bits(nodes[..., 2:])
        x = self.layers(x + self.time(sinusoids(steps, WIDTH, 1e-4)).unsqueeze(1))
        x = F.layer_norm(x, [WIDTH])
        return torch.cat([self.noise_xy(x), self.noise_bits(x)], -1)


# ---- Diffusion and training -------------------------------------------------------------------

LEFT = torch.cos((torch.arange(STEPS + 1).double() / STEPS + 0.008) / 1.008 * math.pi / 2) ** 2
BETAS = (1 - LEFT[1:] / LEFT[:-1]).clamp(max=0.999)  # the share of noise that each step adds
KEPT = (1 - BETAS).cumprod(0)  # how much of the plan's variance is left after it


def out_of_line(nodes: Tensor, real: Tensor) -> Tensor:
    """Return how far each corner is from a line with another one, (plans, corners)."""
    apart = (nodes[:, :, None, :2] - nodes[:, None, :, :2]).abs().amin(-1)
    own = torch.eye(nodes.shape[1], dtype=torch.bool, device=nodes.device)
    apart = apart.masked_fill(~real[:, :, None] | ~real[:, None] | own, torch.inf).amin(-1)
    return apart.where(apart.isfinite(), 0)


def loss_of(network: nn.Module, table: list[Tensor], nodes: Tensor) -> Tensor:
    """Return how much of new noise is not seen, and how far corners then are out of line."""
    drawn = torch.rand(len(nodes), device=nodes.device) ** FOCUS
    steps = (STEPS * drawn).long().clamp(max=STEPS - 1)  # a number can be rounded up to 1
    signal, spread, weight = (column[steps, None, None] for column in table)
    noise = torch.randn_like(nodes)
    noisy = signal * nodes + spread * noise
    predicted = network(noisy, steps)
    of_places, of_others = (predicted - noise).square().mean((0, 1)).split([2, CHANNELS - 2])
    clean = ((noisy - spread * predicted) / signal).clamp(-1, 1)
    apart = -2 * torch.log((1 - out_of_line(clean, nodes[..., -1] < 0) / 2).clamp(min=1e-4))
    alignment = (apart.mean(1) * weight.flatten()).mean()
    return PLACE_WEIGHT * of_places.sum() + of_others.sum() + ALIGNMENT * alignment


@torch.no_grad()
def sample(network: nn.Module, table: list[Tensor], corners: int) -> Tensor:
    """Return new plans (SAMPLES, corners, 10): noise, of which every step takes a little away."""
    signal, spread, _ = table
    shape, generator = (SAMPLES, corners, CHANNELS), torch.Generator().manual_seed(SEED)
    x = torch.randn(shape, generator=generator).to(signal.device)  # on the CPU: equal everywhere
    for step in reversed(range(STEPS)):
        predicted = network(x, torch.full((SAMPLES,), step, device=x.device))
        clean = ((x - spread[step] * predicted) / signal[step]).clamp(-1, 1)
        if step:
            kept, before = KEPT[step].item(), KEPT[step - 1].item()
            new = math.sqrt((1 - before) / (1 - kept) * (1 - kept / before))  # noise of this step
            noise = (x - math.sqrt(kept) * clean) / math.sqrt(1 - kept)
            x = math.sqrt(before) * clean + math.sqrt(max(0.0, 1 - before - new**2)) * noise
            x = x + new * torch.randn(shape, generator=generator).to(x.device)
    return clean


def train() -> tuple[nn.Module, nn.Module, list[float]]:
    """Train; return the network, its average, and the mean loss of each epoch."""
    device = torch.device(DEVICE or torch.accelerator.current_accelerator(True) or "cpu")
    plans, held_out = (nodes.to(device) for nodes in draw_plans())  # all of them stay there
    columns = KEPT.sqrt(), (1 - KEPT).sqrt(), BETAS.flip(0)  # alignment: the less noise, the more
    table = [column.float().to(device) for column in columns]  # MPS has no float64
    torch.manual_seed(SEED)  # of the CPU and of every accelerator
    model = NodeNetwork().to(device)
    average = copy.deepcopy(model).requires_grad_(False)
    matrices = [weight for weight in model.layers.parameters() if weight.ndim == 2]
    others = [w for name, w in model.named_parameters() if w.ndim == 1 or "layers" not in name]
    muon = torch.optim.Muon(matrices, adjust_lr_fn="match_rms_adamw", weight_decay=WEIGHT_DECAY)
    adamw = torch.optim.AdamW(others, weight_decay=WEIGHT_DECAY)
    per_epoch = len(plans) // BATCH_SIZE  # steps; what does not fill a batch is left out
    total = EPOCHS * per_epoch
    warm, losses = min(50, total // 2), []
    print(f"{len(plans):,} plans, on {device}; untrained: loss {2 * PLACE_WEIGHT + CHANNELS - 2:g}")
    for epoch in range(EPOCHS):
        generator = torch.Generator().manual_seed(SEED + 1_000_003 * epoch)
        order = torch.randperm(len(plans), generator=generator).to(device)
        epoch_losses = []
        for step, chosen in enumerate(order.split(BATCH_SIZE)[:per_epoch], epoch * per_epoch):
            nodes = plans.index_select(0, chosen)
            mixed = torch.rand(nodes.shape[:2], device=device).argsort(1)  # corners have no order
            loss = loss_of(model, table, nodes.gather(1, mixed.unsqueeze(-1).expand_as(nodes)))
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), MAX_NORM)
            rate = min(1, (step + 1) / (warm + 1)) * (1 + math.cos(math.pi * step / total)) / 2
            for optimizer in (muon, adamw):
                optimizer.param_groups[0]["lr"] = LEARNING_RATE * rate
                optimizer.step()
            model.zero_grad()
            stays = min(EMA, (2 + step) / (11 + step))  # less at first, when weights change fast
            with torch.no_grad():
                for mean, weight in zip(average.parameters(), model.parameters(), strict=True):
                    mean.lerp_(weight, 1 - stays)
            epoch_losses.append(loss.detach())  # .item() would wait for the GPU in every step
        losses.append(torch.stack(epoch_losses).mean().item())
        if not math.isfinite(losses[-1]):
            raise SystemExit(f"the loss became {losses[-1]}; lower LEARNING_RATE")
        print(f"epoch {epoch + 1}: loss {losses[-1]:.3f}")
    for name, some in (("held-out", held_out), ("new", sample(average, table, plans.shape[1]))):
        real = some[..., -1] < 0
        pixels = (out_of_line(some, real)[real] * CANVAS / 2).median()
        print(f"{name} plans: {real.sum() / len(some):.1f} corners, {pixels:.2f} px out of line")
    return model, average, losses


if __name__ == "__main__":
    ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter).parse_args()
    network, average, losses = train()
    torch.save(average.state_dict(), WEIGHTS + ".tmp")
    Path(WEIGHTS + ".tmp").replace(WEIGHTS)  # in one go: nobody ever finds half a file
    print(f"weights: {WEIGHTS}; to use them: network.load_state_dict(torch.load({WEIGHTS!r}))")
# --8<-- [end:file]
