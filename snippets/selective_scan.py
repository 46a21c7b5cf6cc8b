"""The selective scan of a Mamba block in plain PyTorch, which stores few states for its backward pass.

The scan reads x and dt (batch, length, inner), A (inner, state), B and C (batch, length, state), D (inner,).
For each row of the batch, each channel i and each state s, from h_0 = 0:

    h_t = a_t h_{t-1} + u_t B_t    with    a_t = exp(dt_t A)    and    u_t = dt_t x_t
    y_t = Σ_s C_t h_t + D x_t

Autograd would store a_t and h_t of all steps, each `state` times as large as x. Here the steps are split into
chunks. For the backward pass, the inputs are stored and the state before each chunk but the first:

    batch · inner · state · (chunks - 1) values    with    chunks = ⌈length / max(32, state, ⌊√length⌋)⌉

These are fewer values than x has, and none for up to 32 steps. All others are recomputed, block by block.

A CPU computes the chunks one after the other, so that a block stays in its caches. A GPU needs more work at a
time: it computes all chunks in parallel, as if they were rows of the batch. The final state of chunk k from a
state of 0 is a sum without a loop, and so is the product of its decays; the states before all chunks follow:

    start_{k+1} = Σ_{t in k} exp(A Σ_{later in k} dt) u_t B_t + exp(A Σ_{t in k} dt_t) start_k,    start_0 = 0

The gradients a_t g_t that a chunk receives from the next one follow in the same way.

A GPU uses shorter chunks, ⌈length / max(16, state)⌉ of them, and stores all their initial states: about as
many values as x has.

For a loss L with the known G_t = ∂L/∂y_t, let g_t = ∂L/∂h_t. Step t uses h_t in y_t, and the next step uses
it in h_{t+1}; so the chain rule gives, from the last step to the first,

    g_t = C_t G_t + a_{t+1} g_{t+1}
    q_t = ∂L/∂(dt_t A) = g_t h_{t-1} a_t                (exp is its own derivative)
    ∂L/∂u_t = Σ_s g_t B_t
    ∂L/∂x_t = dt_t ∂L/∂u_t + D G_t                      ∂L/∂dt_t = x_t ∂L/∂u_t + Σ_s q_t A
    ∂L/∂A = Σ_{batch, t} q_t dt_t                       ∂L/∂B_t = Σ_i g_t u_t
    ∂L/∂D = Σ_{batch, t} G_t x_t                        ∂L/∂C_t = Σ_i G_t h_t
"""

from __future__ import annotations

import itertools
import math
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

CHUNK = 32  # steps per chunk; `state` or √length where that is more
SHORT_CHUNK = 16  # the same for chunks in parallel; `state` where that is more
# Values in a block of states, of which the backward pass holds three. On a CPU they should fit into its
# caches; on a GPU, starting many small kernels costs more. The value for MPS was not measured.
BLOCK = {"cpu": 2**21, "mps": 2**24, "cuda": 2**26}
ONE_BY_ONE = {"cpu"}  # devices that compute the chunks one after the other

Place = tuple[slice, slice, slice]  # time, rows, channels
Start: TypeAlias = Tensor | None  # values of one step for a whole block; None means 0
Sums = dict[str, Tensor]  # gradients by the names of their tensors


def cut(size: int, most: int) -> list[slice]:
    """Return slices of nearly equal length, about `most` or less, that cover range(size)."""
    parts = math.ceil(size / max(1, most))
    return [slice(size * part // parts, size * (part + 1) // parts) for part in range(parts)]


def longest(slices: list[slice]) -> int:
    """Return the length of the longest slice; 1 when there is none."""
    return max((one.stop - one.start for one in slices), default=1)


def column(part: Tensor) -> Tensor:
    """Return a part (..., n) as (..., n, 1), contiguous, which a GPU multiplies faster."""
    return part.contiguous().unsqueeze(-1)


# einsum computes these sums as many small matrix products. A CPU is faster when it writes all products to
# `space`, memory of the shape of `values` that is in its caches, and adds them.
def over_channels(values: Tensor, part: Tensor, space: Tensor) -> Tensor:
    """Return Σ_i of values (time, rows, channels, state) and of a part (time, rows, channels)."""
    if values.is_cpu:
        return torch.mul(values, part.unsqueeze(3), out=space).sum(2)
    return torch.einsum("tris,tri->trs", values, part)


def over_states(values: Tensor, part: Tensor, space: Tensor) -> Tensor:
    """Return Σ_s of values (time, rows, channels, state) and of a part (time, rows, state)."""
    if values.is_cpu:
        return torch.mul(values, part.unsqueeze(2), out=space).sum(3)
    return torch.einsum("tris,trs->tri", values, part)


# --8<-- [start:blockwise]
class BlockwiseScan:
    """The recurrence, split into blocks of rows and channels, and each block into chunks of time.

    On a GPU the length is split into `pieces` that become rows: the first pieces of all samples, then the
    second ones, and so on. All tensors have time first, so that the states of one step are contiguous.
    """

    def __init__(self, x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor):
        self.dtype = torch.promote_types(x.dtype, torch.float32)
        (self.batch, self.length, inner), state = x.shape, A.shape[1]
        if x.device.type in ONE_BY_ONE:
            self.pieces, chunk = 1, max(CHUNK, state, math.isqrt(self.length))
        else:
            chunk = max(SHORT_CHUNK, state)
            self.pieces = max(1, math.ceil(self.length / chunk))
        self.x, self.dt, self.B, self.C = map(self.time_first, (x, dt, B, C))
        self.A, self.u = A.to(self.dtype), self.dt * self.x
        steps, rows, _ = self.x.shape
        self.chunks = cut(steps, chunk)
        values = (1 + longest(self.chunks)) * max(1, state)  # of one row and channel
        most = BLOCK.get(x.device.type, BLOCK["mps"]) // values
        channels = cut(inner, most)
        rows = cut(rows, most // longest(channels))
        self.blocks = list(itertools.product(rows, channels))
        # All blocks share memory: for a CPU, the first use of new memory costs more than computing in it.
        values *= longest(rows) * longest(channels)
        self.memory = x.new_empty((3, values), dtype=self.dtype)

    def time_first(self, tensor: Tensor) -> Tensor:
        """Return a tensor (batch, length, n) as (steps, pieces · batch, n), in the dtype of the computation.

        Steps beyond the length are 0 and have no effect: their decay is 1.
        """
        tensor = tensor.transpose(0, 1).to(self.dtype)
        if self.pieces > 1:
            steps = math.ceil(self.length / self.pieces)
            if missing := steps * self.pieces - self.length:
                tensor = F.pad(tensor, (0, 0, 0, 0, 0, missing))
            tensor = tensor.unflatten(0, (self.pieces, steps)).transpose(0, 1).flatten(1, 2)
        return tensor.contiguous()

    def batch_first(self, tensor: Tensor) -> Tensor:
        """Return a tensor (steps, pieces · batch, n) as (batch, length, n)."""
        pieces = tensor.unflatten(1, (self.pieces, self.batch)).transpose(0, 1)
        return pieces.flatten(0, 1)[: self.length].transpose(0, 1)

    def reuse(self, number: int, *shape: int) -> Tensor:
        """Return an uninitialised tensor of this shape in the shared memory with this number."""
        return self.memory[number, : math.prod(shape)].view(shape)

    def decays(self, dt: Tensor, channels: slice) -> Tensor:
        """Return exp(dt A) for dt (steps, rows, channels), with one more dimension, until the next call."""
        decay = self.reuse(0, *dt.shape, self.A.shape[1])
        # exp2 took a third of the time of exp on the CPU.
        return torch.mul(column(dt), self.A[channels] * math.log2(math.e), out=decay).exp2_()

    def run(self, place: Place, start: Start) -> tuple[Tensor, Tensor]:
        """Return the decays at `place`, and the states: `start`, then h_t of each step.

        Both are (steps, rows, channels, state), the states with one step more, and valid until the next call.
        """
        time, rows, channels = place
        steps, *block = self.x[place].shape
        states = self.reuse(1, 1 + steps, *block, self.A.shape[1])
        states[0] = 0 if start is None else start  # first, because `start` may share this memory
        torch.mul(column(self.u[place]), column(self.B[time, rows]).mT, out=states[1:])
        decay = self.decays(self.dt[place], channels)
        h, a = states.unbind(), decay.unbind()
        for t in range(start is None, steps):  # a start of 0 contributes nothing
            h[t + 1].addcmul_(a[t], h[t])  # h_t = u_t B_t + a_t h_{t-1}
        return decay, states

    def run_back(self, place: Place, decay: Tensor, G: Tensor, later: Start) -> Tensor:
        """Return g_t at `place`, valid until the next call. `later` is a_t g_t of the step after `place`."""
        time, rows, _ = place
        g = self.reuse(2, *decay.shape)
        torch.mul(column(G[place]), column(self.C[time, rows]).mT, out=g)
        if later is not None:
            g[-1] += later
        by_step, a = g.unbind(), decay.unbind()
        for t in range(len(by_step) - 1, 0, -1):
            by_step[t - 1].addcmul_(a[t], by_step[t])  # g_t = C_t G_t + a_{t+1} g_{t+1}
        return g

    def add_gradients(self, place: Place, start: Start, G: Tensor, later: Start, to: Sums) -> Start:
        """Add the contributions of the steps at `place` to the gradients of u, dt (through a_t), A, B and C.

        Returns a_t g_t of the first of these steps, which earlier steps need.
        """
        time, rows, channels = place
        decay, states = self.run(place, start)
        to["C"][time, rows].add_(over_channels(states[1:], G[place], space=self.reuse(2, *decay.shape)))
        g = self.run_back(place, decay, G, later)
        later = decay[0] * g[0] if time.start else None
        q = decay.mul_(states[:-1]).mul_(g)
        space = states[1:]  # h_t is no longer needed
        to["B"][time, rows].add_(over_channels(g, self.u[place], space))
        to["u"][place] = over_states(g, self.B[time, rows], space)
        to["dt"][place] = torch.mul(q, self.A[channels], out=g).sum(-1)
        to["A"][channels].add_(q.mul_(column(self.dt[place])).sum((0, 1)))
        return later

    def starts(self) -> Start:
        """Return the state before each piece, (rows, inner, state), or None when there is one piece."""
        if self.pieces == 1:
            return None
        until = self.dt.cumsum(0)
        return self.reaching(until[-1:] - until, self.u, self.B)

    def laters(self, G: Tensor) -> Start:
        """Return a_t g_t of the step after each piece, or None when there is one piece."""
        if self.pieces == 1:
            return None
        return self.reaching(self.dt.cumsum(0), G, self.C, backwards=True)

    def reaching(self, spans: Tensor, wide: Tensor, narrow: Tensor, backwards: bool = False) -> Tensor:
        """Return the state that enters each piece from the earlier ones; `backwards`, from the later ones.

        A piece turns 0 into Σ_t exp(A spans_t) wide_t narrow_t, and adds the state that enters it, decayed.
        """
        pieces = 1 << (self.pieces - 1).bit_length()  # a power of 2; the additional pieces pass on nothing
        passed, decay = (self.A.new_zeros(pieces * self.batch, *self.A.shape) for _ in range(2))
        torch.mul(column(self.dt.sum(0)), self.A, out=decay[: self.x.shape[1]]).exp_()
        for rows, channels in self.blocks:
            made = self.decays(spans[:, rows, channels], channels)
            made.mul_(column(wide[:, rows, channels])).mul_(column(narrow[:, rows]).mT)
            torch.sum(made, 0, out=passed[rows, channels])
        passed, decay = (values.unflatten(0, (pieces, self.batch)) for values in (passed, decay))
        near, far, edge = (1, 0, slice(1)) if backwards else (0, 1, slice(-1, None))
        span = 1  # neighbouring pieces whose contributions are already combined; it doubles
        while span < pieces:
            made, faded = (values.unflatten(0, (-1, 2, span)) for values in (passed, decay))
            made[:, far].addcmul_(faded[:, far], made[:, near, edge])
            faded[:, far].mul_(faded[:, near, edge])
            span *= 2
        nothing = torch.zeros_like(passed[:1])
        others = (passed[1 : self.pieces], nothing) if backwards else (nothing, passed[: self.pieces - 1])
        return torch.cat(others).flatten(0, 1)


# --8<-- [end:blockwise]
# --8<-- [start:selective_scan]
class SelectiveScan(torch.autograd.Function):
    """The scan as one autograd function, which saves its inputs and the state before each later chunk."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor, D: Tensor) -> Tensor:
        """Return y (batch, length, inner) in the dtype of x."""
        with torch.autocast(x.device.type, enabled=False):
            scan = BlockwiseScan(x, dt, A, B, C)
            y = D * scan.x
            first = scan.starts()
            starts = scan.A.new_empty(max(0, len(scan.chunks) - 1), len(x), *A.shape)
            for rows, channels in scan.blocks:
                state = None if first is None else first[rows, channels]
                for number, time in enumerate(scan.chunks):
                    if number:
                        starts[number - 1, rows, channels] = state
                    decay, states = scan.run((time, rows, channels), state)
                    state = states[-1]
                    y[time, rows, channels].add_(over_states(states[1:], scan.C[time, rows], space=decay))
        ctx.save_for_backward(x, dt, A, B, C, D, first, starts)
        return scan.batch_first(y).to(x.dtype).contiguous()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, G: Tensor) -> tuple[Tensor, ...]:
        """Return the gradients of the six inputs; autograd converts each to the dtype of its input."""
        x, dt, A, B, C, D, first, starts = ctx.saved_tensors
        with torch.autocast(x.device.type, enabled=False):
            scan = BlockwiseScan(x, dt, A, B, C)
            G = scan.time_first(G)
            last = scan.laters(G)
            to = {name: torch.zeros_like(getattr(scan, name)) for name in ("u", "dt", "A", "B", "C")}
            for block in scan.blocks:
                start, later = (None if values is None else values[block] for values in (first, last))
                before = [start, *starts[:, *block]]
                # With length 0 there is a start but no chunk.
                for time, start in zip(reversed(scan.chunks), reversed(before), strict=False):
                    later = scan.add_gradients((time, *block), start, G, later, to)
            to_x = to["u"] * scan.dt + D * G
            to_dt = to["u"] * scan.x + to["dt"]
            to_x, to_dt, to_B, to_C = map(scan.batch_first, (to_x, to_dt, to["B"], to["C"]))
            return to_x, to_dt, to["A"], to_B, to_C, (G * scan.x).sum((0, 1))


# --8<-- [end:selective_scan]
@torch.compiler.disable  # a graph break, since the loops would become thousands of operations
def selective_scan(x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor, D: Tensor) -> Tensor:
    """Return y (batch, length, inner) of the scan above, in the dtype of x. It has no second derivatives.

    Raises ValueError when the shapes do not match.
    """
    check_shapes(x, dt, A, B, C, D)
    return SelectiveScan.apply(x, dt, A, B, C, D)


def check_shapes(x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor, D: Tensor) -> None:
    """Raise ValueError, which lists all shapes, unless they match."""
    shapes = {"x": x, "dt": dt, "A": A, "B": B, "C": C, "D": D}
    shapes = {name: tuple(tensor.shape) for name, tensor in shapes.items()}
    if len(shapes["x"]) == 3 and len(shapes["A"]) == 2:
        (batch, length, inner), state = shapes["x"], shapes["A"][1]
        wide, narrow = (batch, length, inner), (batch, length, state)
        if list(shapes.values()) == [wide, wide, (inner, state), narrow, narrow, (inner,)]:
            return
    found = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
    raise ValueError(
        "the scan needs x and dt (batch, length, inner), A (inner, state), B and C (batch, length, state) "
        f"and D (inner,), not {found}"
    )


# --8<-- [start:reference]
def selective_scan_reference(x: Tensor, dt: Tensor, A: Tensor, B: Tensor, C: Tensor, D: Tensor) -> Tensor:
    """Return the same as `selective_scan`, computed by its definition as a loop, with autograd."""
    wanted, dtype = x.dtype, torch.promote_types(x.dtype, torch.float32)
    x, dt, A, B, C, D = (tensor.to(dtype) for tensor in (x, dt, A, B, C, D))
    batch, length, inner = x.shape
    h = x.new_zeros(batch, inner, A.shape[1])
    y = [x[:, :0]]  # so that `torch.cat` has an input when the length is 0
    for t in range(length):
        a = torch.exp(dt[:, t, :, None] * A)
        h = a * h + (dt[:, t] * x[:, t])[..., None] * B[:, t, None]
        y.append(((h * C[:, t, None]).sum(-1) + D * x[:, t])[:, None])
    return torch.cat(y, dim=1).to(wanted)


# --8<-- [end:reference]
