# --8<-- [start:file]
# /// script
# requires-python = ">=3.11"
# dependencies = ["torch>=2.13"]
# ///
"""Train two towers to find what belongs together, with hard negatives, on one page.

    python single_file.py        with PyTorch installed
    uv run single_file.py        installs PyTorch by itself

It needs no other file and downloads nothing: it draws pairs of vectors, for which the best possible
scores are known. On two CPU cores it takes seconds, and says at the end that it got 75 % of the
best R@5. To learn from pairs of your own, replace `draw_pairs`; no two payloads may be equal.
Without NumPy, PyTorch prints a warning, which does not matter here.
"""

import math
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F

# ---- Settings ---------------------------------------------------------------------------------

ROWS = 2_400  # pairs
ARTICLE = 12  # pairs of an article; they resemble each other
SIZE = 32  # numbers of a vector
NOISE = 1.4  # in the payloads: the more, the fewer can be found
HELD_OUT = 0.2  # share of the pairs that are not learned from, in whole articles
EPOCHS = 10  # passes over the pairs
BATCH_SIZE = 64  # pairs per step; the others of a batch are the negatives of each
SAME_ARTICLE = 3  # further negatives of a pair: payloads of its own article
NEAR_MISSES = 1  # further negatives of a pair: wrong payloads that score high,
CANDIDATES = 8  # drawn from this many for each wanted one
TEMPERATURE = 0.07  # divides the scores: the lower, the more the highest wrong one counts
LEARNING_RATE = 2e-3  # of AdamW, at the first step; it falls to 0 along half a cosine
WEIGHT_DECAY = 0.01
MAX_NORM = 1.0  # of all gradients together; longer ones are shortened to it
WIDTH, LAYERS = 64, 1  # of the GRU
SEED = 0  # of data, weights and order: the same seed trains the same network on the CPU
DEVICE = "auto"  # "cuda", "mps" or "cpu"; "auto" takes the first of these that is there
PRECISION = "fp32"  # or "bf16": matrix products in 16 bits
WEIGHTS = "towers.pt"  # the trained network is written here

NONE = -1  # instead of the row of a negative where there is none

# ---- Data -------------------------------------------------------------------------------------


def draw_pairs() -> tuple[Tensor, ...]:
    """Return contexts (ROWS, 5, SIZE), payloads (ROWS, SIZE), articles (ROWS,), and best queries.

    An article is a direction in space; a context is five noisy copies of a vector near it. The
    payload is the mean of the copies, turned by a rotation that is the same for all, plus noise.
    Whoever knows the rotation, which can be learned, finds as many payloads as anybody can.
    """
    generator = torch.Generator().manual_seed(SEED)

    def normal(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator) / SIZE**0.5  # of length about 1

    articles = torch.arange(ROWS) // ARTICLE
    centres = F.normalize(normal(int(articles[-1]) + 1, SIZE), dim=1)
    own = centres[articles] + normal(ROWS, SIZE)
    contexts = own.unsqueeze(1) + 0.5 * normal(ROWS, 5, SIZE)
    rotation = torch.linalg.qr(normal(SIZE, SIZE)).Q
    best = F.normalize(contexts.mean(1), dim=1) @ rotation
    payloads = F.normalize(best + NOISE * normal(ROWS, SIZE), dim=1)
    return contexts, payloads, articles, best


def split(articles: Tensor) -> tuple[Tensor, Tensor]:
    """Return the row numbers to learn from and the held-out ones. Articles stay whole."""
    counts = articles.bincount()
    order = torch.randperm(len(counts), generator=torch.Generator().manual_seed(SEED))
    before = counts[order].cumsum(0) - counts[order]  # rows of the articles drawn earlier
    held_out = torch.isin(articles, order[before < math.ceil(HELD_OUT * len(articles))])
    return (~held_out).nonzero().flatten(), held_out.nonzero().flatten()


# ---- Network ----------------------------------------------------------------------------------


class ContextTower(nn.Module):
    """Maps contexts to unit vectors: the last position, changed by what the GRU says of all."""

    def __init__(self) -> None:
        super().__init__()
        self.enter = nn.Linear(SIZE, WIDTH)
        self.layers = nn.GRU(WIDTH, WIDTH, LAYERS, batch_first=True)
        self.norm = nn.RMSNorm(WIDTH)
        self.leave = nn.Linear(WIDTH, SIZE, bias=False)
        nn.init.zeros_(self.leave.weight)

    def forward(self, contexts: Tensor) -> Tensor:
        """Map (batch, positions, SIZE) to (batch, SIZE)."""
        sequence, _ = self.layers(self.enter(contexts).float())  # also if PRECISION is bf16
        return F.normalize(contexts[:, -1] + self.leave(self.norm(sequence[:, -1])), dim=-1)


class PayloadTower(nn.Module):
    """Maps payloads to unit vectors: themselves, changed by two layers."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(SIZE, WIDTH), nn.GELU(), nn.LayerNorm(WIDTH), nn.Linear(WIDTH, SIZE)
        )
        nn.init.zeros_(self.layers[-1].weight)
        nn.init.zeros_(self.layers[-1].bias)

    def forward(self, payloads: Tensor) -> Tensor:
        """Map (batch, SIZE) to (batch, SIZE)."""
        return F.normalize(payloads + self.layers(payloads), dim=-1)


class TwoTowers(nn.Module):
    """Both towers. They begin with last layers of zeros: at first, all vectors stay as they are."""

    def __init__(self) -> None:
        super().__init__()
        self.context, self.payload = ContextTower(), PayloadTower()
        self.register_buffer("log_scale", torch.tensor(-math.log(TEMPERATURE)))


# ---- Negatives and loss -----------------------------------------------------------------------


def find_near_misses(queries: Tensor, bank: Tensor, articles: Tensor, held_out: Tensor) -> Tensor:
    """Return the rows of other articles that queries (ROWS, SIZE) score highest, (ROWS, k)."""
    scores = queries @ bank.T
    scores[articles[:, None] == articles] = -torch.inf
    scores[:, held_out] = -torch.inf
    return scores.topk(CANDIDATES * NEAR_MISSES).indices


def choose_negatives(near: Tensor, articles: Tensor, learned: Tensor, epoch: int) -> Tensor:
    """Return an epoch's further negatives (ROWS, k): some near misses, some of the own article.

    The rows of an article are shuffled and stand in a ring: each takes those that follow it.
    """
    generator = torch.Generator().manual_seed(SEED + 1_000_003 * epoch)
    chosen = torch.full((len(articles), SAME_ARTICLE), NONE)
    rows = learned[torch.randperm(len(learned), generator=generator)]
    rows = rows[articles[rows].argsort(stable=True)]
    _, group, sizes = articles[rows].unique_consecutive(return_inverse=True, return_counts=True)
    first, size = (sizes.cumsum(0) - sizes)[group], sizes[group]
    place = torch.arange(len(rows)) - first
    for step in range(1, SAME_ARTICLE + 1):
        partner = rows[first + (place + step) % size]
        chosen[rows, step - 1] = partner.where(step < size, NONE)
    chances = torch.rand(near.shape, generator=generator)
    order = chances.argsort(dim=1, descending=True, stable=True)
    return torch.cat([near.gather(1, order)[:, :NEAR_MISSES], chosen], dim=1)


def contrastive_loss(
    queries: Tensor, payloads: Tensor, scale: Tensor, same: Tensor, further: Tensor, missing: Tensor
) -> Tensor:
    """Return the cross-entropy (nats) of telling a query's own payload from its negatives.

    Those are payloads (batch, SIZE) of other articles, not the `same` (batch, batch), and `further`
    ones (batch, k, SIZE) unless they are `missing` (batch, k). Right answers are the diagonal.
    """
    in_batch = (queries @ payloads.T).masked_fill(same.fill_diagonal_(False), -torch.inf)
    more = torch.einsum("bw,bkw->bk", queries, further).masked_fill(missing, -torch.inf)
    right = torch.arange(len(queries), device=queries.device)
    return F.cross_entropy(scale * torch.cat([in_batch, more], dim=1), right)


# ---- Training ---------------------------------------------------------------------------------


def pick_device(wanted: str) -> torch.device:
    """Return the device to compute on: what is wanted, or the fastest one there is."""
    if wanted == "auto":
        wanted = "mps" if torch.backends.mps.is_available() else "cpu"
        wanted = "cuda" if torch.cuda.is_available() else wanted
    return torch.device(wanted)


@torch.no_grad()
def embed(model: nn.Module, pairs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Return the vectors of all contexts and of all payloads, (ROWS, SIZE) each."""
    return model.context(pairs[0]), model.payload(pairs[1])


def retrieval(queries: Tensor, bank: Tensor, own: Tensor) -> list[float]:
    """Return R@1, R@5 and MRR of queries (ROWS, SIZE): the rows `own` look in the whole bank."""
    scores = queries[own] @ bank.T
    above = (scores > scores.gather(1, own[:, None])).sum(1)  # how many others score higher
    return [x.float().mean().item() for x in (above < 1, above < 5, 1 / (above + 1))]


def train() -> tuple[nn.Module, list[float]]:
    """Train; return the network and the mean loss of each epoch."""
    device = pick_device(DEVICE)
    autocast = torch.autocast(device.type, dtype=torch.bfloat16, enabled=PRECISION == "bf16")
    *pairs, articles, best = (column.to(device) for column in draw_pairs())  # all stay there
    learned, held_out = (rows.to(device) for rows in split(articles.cpu()))
    torch.manual_seed(SEED)  # of the CPU and of every accelerator
    model = TwoTowers().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    steps_per_epoch = len(learned) // BATCH_SIZE  # what does not fill a batch is left out
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS * steps_per_epoch)
    untrained = retrieval(pairs[0][:, -1], pairs[1], held_out)
    ceiling = retrieval(best, pairs[1], held_out)
    print(f"{len(learned):,} pairs to learn from, {len(held_out):,} held out")
    print(f"on {device}, {PRECISION}, PyTorch {torch.__version__}")
    print(f"R@5 {untrained[1]:.1%} without training, {ceiling[1]:.1%} at best")
    print("epoch  train loss    R@1    R@5    MRR")
    began, losses = time.perf_counter(), []
    queries, bank = embed(model, pairs)
    for epoch in range(EPOCHS):
        near = find_near_misses(queries, bank, articles, held_out)
        chosen = choose_negatives(near.cpu(), articles.cpu(), learned.cpu(), epoch).to(device)
        generator = torch.Generator().manual_seed(SEED + 1_000_003 * epoch)
        order = learned[torch.randperm(len(learned), generator=generator).to(device)]
        epoch_losses = []
        for start in range(0, steps_per_epoch * BATCH_SIZE, BATCH_SIZE):
            rows = order[start : start + BATCH_SIZE]
            contexts, payloads = (column.index_select(0, rows) for column in pairs)
            with autocast:
                contexts, payloads = model.context(contexts), model.payload(payloads)
            vectors = contexts.float(), payloads.float(), model.log_scale.exp()
            same, ids = articles[rows, None] == articles[rows], chosen[rows]
            loss = contrastive_loss(*vectors, same, bank[ids.clamp(min=0)], ids == NONE)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), MAX_NORM)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            epoch_losses.append(loss.detach())  # .item() would wait for the GPU in every step
        losses.append(torch.stack(epoch_losses).mean().item())
        if not math.isfinite(losses[-1]):
            raise SystemExit(f"the loss became {losses[-1]}; lower LEARNING_RATE")
        queries, bank = embed(model, pairs)
        r1, r5, mrr = retrieval(queries, bank, held_out)
        print(f"{epoch + 1:5d} {losses[-1]:11.4f} {r1:6.1%} {r5:6.1%} {mrr:6.3f}")
    share, seconds = r5 / ceiling[1], time.perf_counter() - began
    print(f"R@5 {r5:.1%}: {share:.0%} of the best possible, after {seconds:.1f} s")
    return model, losses


if __name__ == "__main__":
    ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter).parse_args()
    network, losses = train()
    torch.save(network.state_dict(), WEIGHTS + ".tmp")
    Path(WEIGHTS + ".tmp").replace(WEIGHTS)  # in one go: nobody ever finds half a file
    print(f"weights: {WEIGHTS}; to use them: model.load_state_dict(torch.load({WEIGHTS!r}))")
# --8<-- [end:file]
