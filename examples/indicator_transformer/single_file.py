# --8<-- [start:file]
# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.13"]
# ///
"""Train a transformer to say which indicators are useful now, on one page.

    python single_file.py        with PyTorch installed
    uv run single_file.py        installs PyTorch by itself

It needs no other file and downloads nothing: it draws its own data, in which the best possible
loss is known. On two CPU cores it takes seconds, and says at the end that it got some 90 % of the
way from the best loss without context to the best possible one. To learn from readings of your
own, replace `draw_data`. Without NumPy, PyTorch prints a warning, which does not matter here.
"""

import math
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

# ---- Settings ---------------------------------------------------------------------------------

ROWS = 5_000  # of data; the last fifth is held out
INDICATORS = 24  # each is a token of the transformer
FEATURES = 10  # of the context, which is the same for all indicators of a row
EPOCHS = 6  # passes over the training rows
BATCH_SIZE = 64  # rows per step
LEARNING_RATE = 3e-3  # of AdamW, at the first step; it falls to 0 along half a cosine
WEIGHT_DECAY = 1e-5
MAX_NORM = 1.0  # of all gradients together; longer ones are shortened to it
WEIGHTING = 0.5  # of the term that teaches the weights of the indicators
SPARSITY = 0.1  # of the term that makes each selected indicator cost something
WIDTH, LAYERS, HEADS = 32, 2, 4  # of the transformer; the published one has 256, 6 and 8
DROPOUT = 0.0  # the published network has 0.1
SEED = 0  # of weights and order: the same seed trains the same network on the CPU
DEVICE = "auto"  # "cuda", "mps" or "cpu"; "auto" takes the first of these that is there
PRECISION = "fp32"  # or "bf16": matrix products in 16 bits
WEIGHTS = "indicators.pt"  # the trained network is written here

Rows = tuple[torch.Tensor, ...]  # readings (n, INDICATORS), context (n, FEATURES), usefulness


# ---- Data -------------------------------------------------------------------------------------


def draw_data() -> tuple[Rows, torch.Tensor]:
    """Return all rows, and how likely each indicator is useful in each regime (INDICATORS, 4).

    The signs of the first two context features make one of four regimes. It alone decides how
    likely an indicator is useful: the readings are noise, and so are the other features.
    """
    generator = torch.Generator().manual_seed(2)  # the chances do not change with the rows
    drawn = torch.randint(4, (INDICATORS, 4), generator=generator)
    chances = torch.tensor([0.1, 0.3, 0.7, 0.9], dtype=torch.float64)[drawn]
    generator = torch.Generator().manual_seed(0)
    context = torch.randn(ROWS, FEATURES, generator=generator)
    readings = torch.randn(ROWS, INDICATORS, generator=generator)
    drawn = torch.rand(ROWS, INDICATORS, generator=generator)
    useful = (drawn < chances.T[regime(context)]).float()
    return (readings, context, useful), chances


def regime(context: torch.Tensor) -> torch.Tensor:
    """Return the regime of each row (n,), 0 to 3, from its context (n, FEATURES)."""
    return 2 * (context[:, 0] > 0).long() + (context[:, 1] > 0).long()


def entropy(p: torch.Tensor) -> float:
    """Return the mean entropy (nats) of events with probabilities p: no forecast has less loss."""
    return -(p * p.log() + (1 - p) * (1 - p).log()).mean().item()


# ---- Network ----------------------------------------------------------------------------------


class Layer(nn.Module):
    """LN(x + attention(x)), then x + LN(MLP(x)): the second norm comes before the addition."""

    def __init__(self) -> None:
        super().__init__()
        self.queries_keys_values = nn.Linear(WIDTH, 3 * WIDTH)
        self.merge = nn.Linear(WIDTH, WIDTH)
        self.attention_norm = nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(
            nn.Linear(WIDTH, 4 * WIDTH),
            nn.GELU(),
            nn.Dropout(DROPOUT),
            nn.Linear(4 * WIDTH, WIDTH),
            nn.Dropout(DROPOUT),
        )
        self.mlp_norm = nn.LayerNorm(WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return tokens (batch, INDICATORS, WIDTH) that have looked at each other."""
        x = self.attention_norm(x + self.attention(x))
        return x + self.mlp_norm(self.mlp(x))

    def attention(self, x: torch.Tensor) -> torch.Tensor:
        """Return what each token gathers from all others. A set has no order: no mask."""
        parts = self.queries_keys_values(x).view(*x.shape[:2], 3, HEADS, WIDTH // HEADS)
        queries, keys, values = parts.permute(2, 0, 3, 1, 4)  # (batch, HEADS, INDICATORS, …)
        dropout = DROPOUT if self.training else 0.0
        gathered = F.scaled_dot_product_attention(queries, keys, values, dropout_p=dropout)
        return self.merge(gathered.transpose(1, 2).reshape(x.shape))


class IndicatorTransformer(nn.Module):
    """Says for each indicator how likely it is to be useful now, and how much weight it gets."""

    def __init__(self) -> None:
        super().__init__()
        self.identity = nn.Embedding(INDICATORS, WIDTH)
        self.value = nn.Linear(1, WIDTH)
        self.context = nn.Sequential(
            nn.Linear(FEATURES, 128), nn.GELU(), nn.Linear(128, WIDTH), nn.LayerNorm(WIDTH)
        )
        self.unused_positions = nn.Embedding(100, WIDTH)  # the published network has it, unused
        self.layers = nn.Sequential(*(Layer() for _ in range(LAYERS)))
        self.selector, self.weighter = head(), head()
        for name, count in (("value", INDICATORS), ("context", FEATURES)):
            self.register_buffer(f"{name}_mean", torch.zeros(count))
            self.register_buffer(f"{name}_std", torch.ones(count))

    def fit_normaliser(self, readings: torch.Tensor, context: torch.Tensor) -> None:
        """Remember mean and deviation of training rows: they are saved with the weights."""
        self.value_std, self.value_mean = torch.std_mean(readings, dim=0, correction=0)
        self.context_std, self.context_mean = torch.std_mean(context, dim=0, correction=0)

    def forward(self, readings: torch.Tensor, context: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Return logits of "useful now" and weights, both (batch, INDICATORS).

        A token is the sum of three vectors: which indicator it is, its reading, the context.
        """
        readings = ((readings - self.value_mean) / self.value_std).clamp(-10, 10)
        context = ((context - self.context_mean) / self.context_std).clamp(-10, 10)
        tokens = self.identity.weight + self.value(readings.unsqueeze(2))
        tokens = self.layers(tokens + self.context(context).unsqueeze(1))
        logits, weights = self.selector(tokens).squeeze(2), self.weighter(tokens).squeeze(2)
        weights = F.normalize(F.softplus(weights.float()), p=1, dim=1)  # they sum to 1
        return logits.float(), weights


def head() -> nn.Sequential:
    """Return a small network from a token (…, WIDTH) to one number (…, 1)."""
    return nn.Sequential(nn.Linear(WIDTH, WIDTH // 2), nn.GELU(), nn.Linear(WIDTH // 2, 1))


def total_loss(logits: torch.Tensor, weights: torch.Tensor, useful: torch.Tensor) -> torch.Tensor:
    """Return the loss: right probabilities, weights to match, and as few indicators as possible.

    On logits: the cross-entropy of probabilities is inexact in 16 bits, and CUDA refuses it.
    """
    probability = logits.sigmoid()
    cross_entropy = F.binary_cross_entropy_with_logits(logits, useful)
    wanted = F.normalize(useful * probability.detach(), p=1, dim=1)
    return cross_entropy + WEIGHTING * F.mse_loss(weights, wanted) + SPARSITY * probability.mean()


# ---- Training ---------------------------------------------------------------------------------


def pick_device(wanted: str) -> torch.device:
    """Return the device to compute on: what is wanted, or the fastest one there is."""
    if wanted == "auto":
        wanted = "mps" if torch.backends.mps.is_available() else "cpu"
        wanted = "cuda" if torch.cuda.is_available() else wanted
    return torch.device(wanted)


@torch.no_grad()
def evaluate(model: nn.Module, rows: Rows) -> tuple[float, float]:
    """Return the cross-entropy (nats), and the share (0 to 1) of rightly selected indicators."""
    readings, context, useful = rows
    model.eval()  # without dropout
    logits, _ = model(readings, context)
    model.train()
    right = (logits > 0) == (useful > 0.5)  # selected: more likely useful than not
    return F.binary_cross_entropy_with_logits(logits, useful).item(), right.float().mean().item()


def train() -> tuple[nn.Module, list[float]]:
    """Train; return the network and the mean loss of each epoch."""
    device = pick_device(DEVICE)
    autocast = torch.autocast(device.type, dtype=torch.bfloat16, enabled=PRECISION == "bf16")
    rows, chances = draw_data()
    count = round(0.8 * ROWS)  # to learn from
    learned = tuple(column[:count].to(device) for column in rows)  # all of them stay there
    held_out = tuple(column[count:].to(device) for column in rows)
    best, blind = entropy(chances), entropy(chances.mean(1))

    torch.manual_seed(SEED)  # of the CPU and of every accelerator
    model = IndicatorTransformer()
    model.fit_normaliser(rows[0][:count], rows[1][:count])
    model = model.to(device).train()
    optimizer = torch.optim.AdamW(model.parameters(), LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    steps_per_epoch = count // BATCH_SIZE  # what does not fill a batch is left out
    total_steps = EPOCHS * steps_per_epoch
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=total_steps)
    print(f"{count:,} rows to learn from, {ROWS - count:,} held out; {INDICATORS} indicators")
    print(f"on {device}, {PRECISION}, PyTorch {torch.__version__}")
    print(f"BCE {blind:.4f} without context, {best:.4f} at best")
    print("epoch  train loss  val BCE  agreement")
    began, losses = time.perf_counter(), []
    for epoch in range(EPOCHS):
        generator = torch.Generator().manual_seed(SEED + 1_000_003 * epoch)
        order = torch.randperm(count, generator=generator).to(device)
        epoch_losses = []
        for start in range(0, steps_per_epoch * BATCH_SIZE, BATCH_SIZE):
            chosen = order[start : start + BATCH_SIZE]
            readings, context, useful = (column.index_select(0, chosen) for column in learned)
            with autocast:  # the forward pass and the loss; the backward pass belongs outside
                logits, weights = model(readings, context)
                loss = total_loss(logits, weights, useful)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), MAX_NORM)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            epoch_losses.append(loss.detach())  # .item() would wait for the GPU in every step
        losses.append(torch.stack(epoch_losses).mean().item())
        if not math.isfinite(losses[-1]):
            raise SystemExit(f"the loss became {losses[-1]}; lower LEARNING_RATE")
        bce, agreement = evaluate(model, held_out)
        print(f"{epoch + 1:5d} {losses[-1]:11.4f} {bce:8.4f} {agreement:10.2%}")
    way = (blind - bce) / (blind - best)
    print(f"{way:.0%} of the way to the best BCE, after {time.perf_counter() - began:.1f} s")
    return model, losses


if __name__ == "__main__":
    ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter).parse_args()
    network, losses = train()
    torch.save(network.state_dict(), WEIGHTS + ".tmp")
    Path(WEIGHTS + ".tmp").replace(WEIGHTS)  # in one go: nobody ever finds half a file
    print(f"weights: {WEIGHTS}; to use them: model.load_state_dict(torch.load({WEIGHTS!r}))")
# --8<-- [end:file]
