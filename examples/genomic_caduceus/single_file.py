# --8<-- [start:file]
# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.13", "numpy>=2"]
# ///
"""Train a bidirectional Mamba that reads both strands of DNA, on one page.

    python single_file.py        with PyTorch and NumPy installed
    uv run single_file.py        installs both by itself

It needs no other file and downloads nothing: it draws sequences, half of which hold a motif on one
strand or the other; the best possible accuracy is known. On two CPU cores it takes about half a
minute. To learn from sequences of your own, replace `draw_sequences`.
"""

import math
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path

import numpy
import torch
from torch import Tensor, nn
from torch.nn import functional as F

# ---- Settings ---------------------------------------------------------------------------------

SEQUENCES, HELD_OUT, TEST = 4_000, 1_000, 2_000  # to learn from, to watch, for the result
LENGTH = 64  # bases of a sequence
MOTIF, ERROR = 10, 0.05  # bases of the motif, and the chance that one of them is another
EPOCHS = 3  # passes over the sequences
BATCH_SIZE = 64  # sequences per step
LEARNING_RATE = 2e-2  # of AdamW, at its highest: after a warm-up it falls to a tenth
WARM_UP = 0.01  # share of the steps in which it rises
WEIGHT_DECAY = 0.1
MAX_NORM = 1.0  # of all gradients together; longer ones are shortened to it
WIDTH, LAYERS, STATE = 32, 1, 4  # of the network; STATE: what each channel remembers
BOTH_STRANDS = True  # of each sequence go through the network
SEED = 0  # of data, weights and order: the same seed trains the same network on the CPU
DEVICE = "auto"  # "cuda", "mps" or "cpu"; "auto" takes the first of these that is there
PRECISION = "fp32"  # or "bf16": matrix products in 16 bits
WEIGHTS = "genomic.pt"  # the trained network is written here

# Tokens: 7 special ones, then A, C, G, T, N, whose partners on the other strand are T, G, C, A, N.
FIRST_BASE, VOCABULARY = 7, 16
PARTNERS = torch.tensor([0, 1, 2, 3, 4, 5, 6, 10, 9, 8, 7, 11, 12, 13, 14, 15])

# ---- Data -------------------------------------------------------------------------------------


def draw_sequences() -> list[tuple[Tensor, Tensor]]:
    """Return tokens (n, LENGTH) and classes (n,) to learn from, held out, and for the test.

    All bases are drawn evenly; class 1 has the motif at a random place of a random strand.
    """
    random = numpy.random.default_rng(SEED)
    table = numpy.full((MOTIF, 4), ERROR / 3)  # chances of A, C, G, T at each place of the motif
    table[numpy.arange(MOTIF), random.integers(0, 4, MOTIF)] = 1 - ERROR
    strands, made = (table, table[::-1, ::-1]), []
    for count in (SEQUENCES, HELD_OUT, TEST):
        bases = random.integers(0, 4, (count, LENGTH))
        classes = random.integers(0, 2, count)
        for row in numpy.flatnonzero(classes):
            chances = strands[random.integers(0, 2)].cumsum(1)
            start = random.integers(0, LENGTH - MOTIF + 1)
            drawn = (random.random((MOTIF, 1)) > chances).sum(1).clip(max=3)
            bases[row, start : start + MOTIF] = drawn
        made.append((torch.from_numpy(bases) + FIRST_BASE, torch.from_numpy(classes)))
    print(f"accuracy at best {best_accuracy(bases, classes, strands):.2%}")
    return made


def best_accuracy(bases: numpy.ndarray, classes: numpy.ndarray, strands: tuple) -> float:
    """Return how often the exact ratio of the likelihoods of both classes decides rightly."""
    windows = numpy.lib.stride_tricks.sliding_window_view(bases, MOTIF, axis=1)
    ratios = [(4 * table)[numpy.arange(MOTIF), windows].prod(-1) for table in strands]
    return ((numpy.concatenate(ratios, 1).mean(1) > 1) == (classes == 1)).mean()


def reverse_complement(tokens: Tensor) -> Tensor:
    """Return the other strand of tokens (batch, length), read in its own direction."""
    return PARTNERS.to(tokens.device)[tokens].flip(1)


# ---- Network ----------------------------------------------------------------------------------


def selective_scan(x: Tensor, dt: Tensor, a: Tensor, b: Tensor, c: Tensor, d: Tensor) -> Tensor:
    """Return y_t = c_t h_t + d x_t for h_t = exp(dt_t a) h_{t-1} + dt_t x_t b_t, like x in shape.

    x, dt are (batch, length, inner), a (inner, STATE), b, c (batch, length, STATE), d (inner,).
    A step at a time: for long sequences, snippets/selective_scan.py of the handbook is faster.
    """
    kind, (x, dt, b, c) = x.dtype, (part.float() for part in (x, dt, b, c))  # also with bf16
    decay = torch.exp(dt.unsqueeze(-1) * a).unbind(1)
    new = ((dt * x).unsqueeze(-1) * b.unsqueeze(2)).unbind(1)
    h, states = torch.zeros_like(new[0]), []
    for t in range(len(new)):
        h = decay[t] * h + new[t]
        states.append(h)
    return ((torch.stack(states, 1) * c.unsqueeze(2)).sum(-1) + d * x).to(kind)


class Mixer(nn.Module):
    """What a Mamba layer does between its projections: a short convolution, then the scan."""

    def __init__(self) -> None:
        super().__init__()
        inner, self.rank = 2 * WIDTH, math.ceil(WIDTH / 16)
        self.conv = nn.Conv1d(inner, inner, 4, groups=inner, padding=3)
        self.x_proj = nn.Linear(inner, self.rank + 2 * STATE, bias=False)
        self.dt_proj = nn.Linear(self.rank, inner)
        self.A_log = nn.Parameter(torch.arange(1, STATE + 1).float().log().repeat(inner, 1))
        self.D = nn.Parameter(torch.ones(inner))
        nn.init.uniform_(self.dt_proj.weight, -(self.rank**-0.5), self.rank**-0.5)
        steps = torch.exp(torch.empty(inner).uniform_(math.log(0.001), math.log(0.1)))
        with torch.no_grad():  # the inverse of softplus: steps begin between 0.001 and 0.1
            self.dt_proj.bias.copy_(steps + torch.log(-torch.expm1(-steps)))

    def forward(self, x: Tensor) -> Tensor:
        """Return (batch, length, inner); each position sees those before it."""
        x = F.silu(self.conv(x.mT)[..., : x.shape[1]].mT)
        dt, b, c = self.x_proj(x).split([self.rank, STATE, STATE], -1)
        return selective_scan(x, F.softplus(self.dt_proj(dt)), -self.A_log.exp(), b, c, self.D)


class BiMamba(nn.Module):
    """A Mamba layer for both directions; both share the projections into and out of it."""

    def __init__(self) -> None:
        super().__init__()
        self.into = nn.Linear(WIDTH, 4 * WIDTH, bias=False)
        self.forwards, self.backwards = Mixer(), Mixer()
        self.out = nn.Linear(2 * WIDTH, WIDTH, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Return (batch, length, WIDTH): the sum of what both directions give."""
        x, gate = self.into(x).chunk(2, -1)
        one, other = self.forwards(x), self.backwards(x.flip(1)).flip(1)
        return self.out(one * F.silu(gate)) + self.out(other * F.silu(gate))


class Backbone(nn.Module):
    """Layers for both directions between an embedding and a normalisation."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.norms = nn.ModuleList(nn.RMSNorm(WIDTH, eps=1e-5) for _ in range(LAYERS))
        self.layers = nn.ModuleList(BiMamba() for _ in range(LAYERS))
        self.norm = nn.RMSNorm(WIDTH, eps=1e-5)
        nn.init.normal_(self.embedding.weight, std=0.02)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return (batch, length, WIDTH) for tokens (batch, length)."""
        x = self.embedding(tokens)
        for norm, layer in zip(self.norms, self.layers, strict=True):
            x = x + layer(norm(x))
        return self.norm(x)


class Classifier(nn.Module):
    """Scores of both classes from the mean over the positions, and over both strands.

    In separate calls both strands meet the same operations, so that on a CPU the scores of a
    sequence and of its other strand are equal bit for bit.
    """

    def __init__(self) -> None:
        super().__init__()
        self.backbone = Backbone()
        self.head = nn.Linear(WIDTH, 2, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return scores (batch, 2) for tokens (batch, length)."""
        own = self.head(self.backbone(tokens).mean(1))
        if not BOTH_STRANDS:
            return own
        return (own + self.head(self.backbone(reverse_complement(tokens)).mean(1))) / 2


# ---- Training ---------------------------------------------------------------------------------


def pick_device(wanted: str) -> torch.device:
    """Return the device to compute on: what is wanted, or the fastest one there is."""
    if wanted == "auto":
        wanted = "mps" if torch.backends.mps.is_available() else "cpu"
        wanted = "cuda" if torch.cuda.is_available() else wanted
    return torch.device(wanted)


def rate(step: int, total: int) -> float:
    """Return the share of LEARNING_RATE of a step: a straight warm-up, then a cosine to a tenth."""
    rising = max(1, round(WARM_UP * total))
    if step < rising:
        return (step + 1) / (rising + 1)
    done = min((step - rising) / max(1, total - rising), 1)
    return 0.1 + 0.9 * (1 + math.cos(math.pi * done)) / 2


@torch.no_grad()
def accuracy(model: nn.Module, tokens: Tensor, classes: Tensor) -> float:
    """Return the share of sequences whose class is found."""
    scores = torch.cat([model(part) for part in tokens.split(BATCH_SIZE)])
    return (scores.argmax(1) == classes).float().mean().item()


def train() -> tuple[nn.Module, list[float]]:
    """Train; return the network and the loss of every step."""
    device = pick_device(DEVICE)
    autocast = torch.autocast(device.type, dtype=torch.bfloat16, enabled=PRECISION == "bf16")
    parts = [[column.to(device) for column in part] for part in draw_sequences()]  # all stay there
    (tokens, classes), held_out, test = parts
    torch.manual_seed(SEED)  # of the CPU and of every accelerator
    model = Classifier().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    steps = len(tokens) // BATCH_SIZE  # of an epoch; what does not fill a batch is left out
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: rate(step, EPOCHS * steps))
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters, {len(tokens):,} sequences")
    print(f"on {device}, {PRECISION}, PyTorch {torch.__version__}")
    print("epoch  train loss  held-out accuracy")
    began, losses = time.perf_counter(), []
    for epoch in range(EPOCHS):
        generator = torch.Generator().manual_seed(SEED + 1_000_003 * epoch)
        order = torch.randperm(len(tokens), generator=generator).to(device)
        for rows in order[: steps * BATCH_SIZE].split(BATCH_SIZE):
            with autocast:
                scores = model(tokens[rows])
            loss = F.cross_entropy(scores.float(), classes[rows])
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), MAX_NORM)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            losses.append(loss.detach())  # .item() would wait for the GPU in every step
        mean = torch.stack(losses[-steps:]).mean().item()
        if not math.isfinite(mean):
            raise SystemExit(f"the loss became {mean}; lower LEARNING_RATE")
        print(f"{epoch + 1:5d} {mean:11.4f} {accuracy(model, *held_out):18.2%}")
    right = accuracy(model, *test)
    print(f"{right:.2%} of the test sequences right, after {time.perf_counter() - began:.1f} s")
    return model, torch.stack(losses).tolist()


if __name__ == "__main__":
    ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter).parse_args()
    network, losses = train()
    torch.save(network.state_dict(), WEIGHTS + ".tmp")
    Path(WEIGHTS + ".tmp").replace(WEIGHTS)  # in one go: nobody ever finds half a file
    print(f"weights: {WEIGHTS}; to use them: model.load_state_dict(torch.load({WEIGHTS!r}))")
# --8<-- [end:file]
