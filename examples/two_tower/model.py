"""The two towers: contexts go through state-space blocks or a GRU, payloads through two linear layers."""

import math
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

from snippets.selective_scan import selective_scan

DT_RANGE = (0.001, 0.1)  # step sizes at the beginning (Gu and Dao 2023, arXiv 2312.00752, section 3.6)


@dataclass(frozen=True)
class Shape:
    """What decides the number of weights."""

    width: int  # of the vectors inside and at the end
    layers: int
    tower: str = "ssm"  # or "gru"
    state: int = 16  # numbers that each channel remembers
    expand: int = 2  # channels inside a block, per width
    conv: int = 4  # positions

    @property
    def inner(self) -> int:
        """Return the channels inside a block."""
        return self.expand * self.width

    @property
    def dt_rank(self) -> int:
        """Return the numbers from which the step sizes of all channels are made."""
        return math.ceil(self.width / 16)


# --8<-- [start:block]
class StateSpaceBlock(nn.Module):
    """A Mamba block (arXiv 2312.00752): each channel remembers `state` numbers of what came before.

    What it keeps of them, adds to them and reads from them depends on the position's own input.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        width, inner, state = shape.width, shape.inner, shape.state
        self.state, self.dt_rank = state, shape.dt_rank
        self.norm = nn.RMSNorm(width)
        self.enter = nn.Linear(width, 2 * inner, bias=False)
        self.conv = nn.Conv1d(inner, inner, shape.conv, padding=shape.conv - 1, groups=inner)
        self.choose = nn.Linear(inner, shape.dt_rank + 2 * state, bias=False)
        self.step_size = nn.Linear(shape.dt_rank, inner)
        self.log_decay = nn.Parameter(torch.arange(1.0, state + 1).log().repeat(inner, 1))
        self.skip = nn.Parameter(torch.ones(inner))
        self.leave = nn.Linear(inner, width, bias=False)
        low, high = map(math.log, DT_RANGE)
        steps = torch.exp(low + (high - low) * torch.rand(inner))
        with torch.no_grad():  # softplus of it gives the steps back
            self.step_size.bias.copy_(steps + torch.log(-torch.expm1(-steps)))

    def forward(self, sequence: torch.Tensor) -> torch.Tensor:
        """Map (batch, positions, width) to the same shape; a position sees itself and earlier ones."""
        inner, gate = self.enter(self.norm(sequence)).chunk(2, dim=-1)
        inner = self.conv(inner.transpose(1, 2))[..., : sequence.shape[1]].transpose(1, 2)
        inner = F.silu(inner)
        rank, write, read = self.choose(inner).split([self.dt_rank, self.state, self.state], dim=-1)
        step_size = F.softplus(self.step_size(rank))
        found = selective_scan(inner, step_size, -self.log_decay.exp(), write, read, self.skip)
        return sequence + self.leave(found * F.silu(gate))


# --8<-- [end:block]
class ContextTower(nn.Module):
    """Maps contexts to unit vectors: the last position, changed by what it knows after all layers."""

    def __init__(self, width_in: int, shape: Shape) -> None:
        super().__init__()
        self.enter = nn.Linear(width_in, shape.width)
        if shape.tower == "gru":
            self.layers = nn.GRU(shape.width, shape.width, shape.layers, batch_first=True)
        else:
            self.layers = nn.Sequential(*(StateSpaceBlock(shape) for _ in range(shape.layers)))
        self.norm = nn.RMSNorm(shape.width)
        self.leave = nn.Linear(shape.width, width_in, bias=False)
        nn.init.zeros_(self.leave.weight)

    def forward(self, contexts: torch.Tensor) -> torch.Tensor:
        """Map (batch, positions, width_in) to (batch, width_in)."""
        entered = self.enter(contexts).to(self.norm.weight.dtype)  # layers of 16 bits add to 32
        sequence = self.layers(entered)
        if isinstance(sequence, tuple):  # a GRU returns its last state, too
            sequence = sequence[0]
        return F.normalize(contexts[:, -1] + self.leave(self.norm(sequence[:, -1])), dim=-1)


class PayloadTower(nn.Module):
    """Maps payloads to unit vectors: themselves, changed by two layers."""

    def __init__(self, width_in: int, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(width_in, width), nn.GELU(), nn.LayerNorm(width), nn.Linear(width, width_in)
        )
        nn.init.zeros_(self.layers[-1].weight)
        nn.init.zeros_(self.layers[-1].bias)

    def forward(self, payloads: torch.Tensor) -> torch.Tensor:
        """Map (batch, width_in) to (batch, width_in)."""
        return F.normalize(payloads + self.layers(payloads), dim=-1)


class TwoTowers(nn.Module):
    """Both towers, and how sharply their scores are told apart.

    Contexts and payloads come from one encoder, so that their vectors can be compared as they are. The towers
    begin there, with last layers of zeros, and learn what to change.
    """

    MAX_SCALE = 100.0  # as CLIP has it (Radford and others 2021, arXiv 2103.00020, section 2.5)

    def __init__(
        self,
        width_in: int,
        shape: Shape,
        temperature: float = 0.07,
        learned: bool = False,
        dropout: float = 0.0,
    ) -> None:
        """`temperature` divides the scores; `learned` lets training change it. Inputs lose `dropout`."""
        super().__init__()
        self.dropout = nn.Dropout(dropout)  # a number of an n-gram vector is a few words: some go missing
        self.context = ContextTower(width_in, shape)
        self.payload = PayloadTower(width_in, shape.width)
        log_scale = torch.tensor(-math.log(temperature))
        if learned:
            self.log_scale = nn.Parameter(log_scale)
        else:
            self.register_buffer("log_scale", log_scale)

    def forward(self, contexts: torch.Tensor, payloads: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Return the vectors of both, (batch, width_in), and the factor for their scores, ()."""
        scale = self.log_scale.exp().clamp(max=self.MAX_SCALE)
        return self.context(self.dropout(contexts)), self.payload(self.dropout(payloads)), scale


def parameter_count(model: nn.Module) -> int:
    """Return the number of weights that are trained."""
    return sum(parameter.numel() for parameter in model.parameters())


# --8<-- [start:count]
def expected_parameters(width_in: int, shape: Shape) -> tuple[int, int]:
    """Return the number of weights of the context tower (of state-space blocks) and the payload tower."""
    width, inner, state, rank = shape.width, shape.inner, shape.state, shape.dt_rank
    block = (
        width  # RMS norm
        + width * 2 * inner  # into the block, with its gate
        + inner * (shape.conv + 1)  # convolution and its bias
        + inner * (rank + 2 * state)  # what to write and to read, and the step sizes,
        + (rank + 1) * inner  # which are made wide again
        + inner * state  # how fast each number fades
        + inner  # what passes by
        + inner * width  # out of the block
    )
    context = (width_in + 1) * width + shape.layers * block + width + width * width_in
    payload = (width_in + 1) * width + 2 * width + (width + 1) * width_in
    return context, payload


# --8<-- [end:count]
