"""The two towers: state-space blocks or a GRU for contexts, two linear layers for payloads."""

import math
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

from snippets.selective_scan import selective_scan

DT_RANGE = (0.001, 0.1)  # initial step sizes (Gu and Dao 2023, arXiv 2312.00752, section 3.6)


@dataclass(frozen=True)
class Shape:
    """The sizes that determine the number of weights."""

    width: int  # of inner and final vectors
    layers: int
    tower: str = "ssm"  # or "gru"
    state: int = 16  # state variables of each channel
    expand: int = 2  # channels inside a block, per width
    conv: int = 4  # positions

    @property
    def inner(self) -> int:
        """Return the number of channels inside a block."""
        return self.expand * self.width

    @property
    def dt_rank(self) -> int:
        """Return the rank of the projection to the step sizes of all channels."""
        return math.ceil(self.width / 16)


# --8<-- [start:block]
class StateSpaceBlock(nn.Module):
    """A Mamba block (arXiv 2312.00752) with `state` state variables per channel.

    Decay, input and output of the state depend on the input at each position.
    """

    scan = staticmethod(selective_scan)  # an export has the loop of its definition

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
        with torch.no_grad():  # the inverse of softplus
            self.step_size.bias.copy_(steps + torch.log(-torch.expm1(-steps)))

    def forward(self, sequence: torch.Tensor) -> torch.Tensor:
        """Map (batch, positions, width) to the same shape; positions depend only on earlier ones."""
        inner, gate = self.enter(self.norm(sequence)).chunk(2, dim=-1)
        inner = self.conv(inner.transpose(1, 2))[..., : sequence.shape[1]].transpose(1, 2)
        inner = F.silu(inner)
        rank, write, read = self.choose(inner).split([self.dt_rank, self.state, self.state], dim=-1)
        step_size = F.softplus(self.step_size(rank))
        found = self.scan(inner, step_size, -self.log_decay.exp(), write, read, self.skip)
        return sequence + self.leave(found * F.silu(gate))


# --8<-- [end:block]
class ContextTower(nn.Module):
    """Maps contexts to unit vectors: the last input vector plus the output of the layers there."""

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
        entered = self.enter(contexts).to(self.norm.weight.dtype)  # the residual stream stays float32
        sequence = self.layers(entered)
        if isinstance(sequence, tuple):  # a GRU also returns its last state
            sequence = sequence[0]
        return F.normalize(contexts[:, -1] + self.leave(self.norm(sequence[:, -1])), dim=-1)


class PayloadTower(nn.Module):
    """Maps payloads to unit vectors: the input plus the output of two layers."""

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
    """Both towers, and the temperature of their scores.

    Contexts and payloads come from one encoder, so that their vectors can already be compared. The last
    layers start as zeros, so that training starts from the encoder's vectors.
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
        """`temperature` divides the scores; `learned` makes it trainable; `dropout` applies to the inputs."""
        super().__init__()
        self.dropout = nn.Dropout(dropout)  # an entry of an n-gram vector stands for a few words
        self.context = ContextTower(width_in, shape)
        self.payload = PayloadTower(width_in, shape.width)
        log_scale = torch.tensor(-math.log(temperature))
        if learned:
            self.log_scale = nn.Parameter(log_scale)
        else:
            self.register_buffer("log_scale", log_scale)

    def forward(self, contexts: torch.Tensor, payloads: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Return the vectors of both, (batch, width_in), and the scale of their scores, ()."""
        scale = self.log_scale.exp().clamp(max=self.MAX_SCALE)
        return self.context(self.dropout(contexts)), self.payload(self.dropout(payloads)), scale


def parameter_count(model: nn.Module) -> int:
    """Return the number of trainable weights."""
    return sum(parameter.numel() for parameter in model.parameters())


# --8<-- [start:count]
def expected_parameters(width_in: int, shape: Shape) -> tuple[int, int]:
    """Return the number of weights of the context tower (of state-space blocks) and the payload tower."""
    width, inner, state, rank = shape.width, shape.inner, shape.state, shape.dt_rank
    block = (
        width  # RMS norm
        + width * 2 * inner  # into the block, with its gate
        + inner * (shape.conv + 1)  # convolution and its bias
        + inner * (rank + 2 * state)  # input and output of the state, and the step sizes,
        + (rank + 1) * inner  # which are projected to all channels
        + inner * state  # the decay of each state variable
        + inner  # the skip connection
        + inner * width  # out of the block
    )
    context = (width_in + 1) * width + shape.layers * block + width + width * width_in
    payload = (width_in + 1) * width + 2 * width + (width + 1) * width_in
    return context, payload


# --8<-- [end:count]
