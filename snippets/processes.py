"""Share one training among the processes that torchrun started: on the cores of a CPU, or one for each GPU.

Each process computes its share of every batch. DistributedDataParallel averages the gradients, so all of them
take the same step. A program that is started without torchrun is one process, for which nothing changes.
"""

import contextlib
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta
from inspect import signature
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.overrides import TorchFunctionMode

from snippets.errors import Explained, Option, RunError, UsageError, one_line

Value = TypeVar("Value")

LATE = timedelta(minutes=10)  # how long the others wait for a process that does not answer
DOWNLOADING = timedelta(days=7)  # they wait longer for the first one; all notice at once when a process ends
# The option of DistributedDataParallel that copies buffers in each step; newer releases have the first name.
NAMES = "forward_sync_buffers", "broadcast_buffers"
BUFFERS = next(name for name in NAMES if name in signature(DistributedDataParallel).parameters)
LOST = ("gloo", "Connection closed by peer", "Connection reset by peer", "Broken pipe")


# --8<-- [start:rank]
def count() -> int:
    """Return the number of processes that share the training."""
    if Control.alone or not dist.is_available() or not dist.is_initialized():
        return 1
    return dist.get_world_size()


def rank() -> int:
    """Return the number of this process, from 0. The first one prints and writes."""
    return dist.get_rank() if count() > 1 else 0


# --8<-- [end:rank]
# --8<-- [start:joined]
@contextlib.contextmanager
def joined() -> Iterator[None]:
    """Inside the block, this process belongs to the group that torchrun started; only the first one prints.

    Tensors on CUDA travel through NCCL, all others through gloo. Raises UsageError when the processes do not
    find each other. Of errors inside, which may occur in all processes, only one prints its line.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield
        return
    cuda = torch.cuda.is_available() and dist.is_nccl_available()
    try:
        with signals_end_at_once():
            store, own, others = next(dist.rendezvous("env://", timeout=LATE))
            if os.environ.get("LOCAL_WORLD_SIZE") == str(
                others
            ):  # with one machine, all count the same restarts
                # torchrun keeps the store, with the addresses of processes that it has replaced since.
                store = dist.PrefixStore(f"restart{os.environ.get('TORCHELASTIC_RESTART_COUNT')}", store)
            backends = "cpu:gloo,cuda:nccl" if cuda else "gloo"
            dist.init_process_group(backends, store=store, rank=own, world_size=others, timeout=LATE)
            Control.group = dist.new_group(backend="gloo", timeout=DOWNLOADING)
    except (RuntimeError, ValueError) as error:  # DistError is a RuntimeError
        raise UsageError(f"the processes do not find each other: {first_line(error)}") from None
    try:
        with silent_unless_first():
            check_alike("PyTorch", torch.__version__)
            yield
    except Explained as error:  # printed here: torchrun soon ends a process whose twin has ended
        if is_first_to_report(store):
            print("error:", one_line(str(error)), file=sys.stderr, flush=True)
        raise SystemExit(error.exit_code) from None
    with contextlib.suppress(RuntimeError):
        dist.barrier(Control.group)  # torchrun ends all processes when one ends with an error code
        dist.destroy_process_group()  # not after an error: it could wait for a process that has ended


# --8<-- [end:joined]
class Control:
    """The group for decisions, as opposed to gradients: on the CPU, and with more patience."""

    group: Any = None
    alone = False  # whether this process computes as if there were no others


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Inside the block, compute as if this process were the only one, because the others may be waiting."""
    before, Control.alone = Control.alone, True
    try:
        yield
    finally:
        Control.alone = before


@contextlib.contextmanager
def signals_end_at_once() -> Iterator[None]:
    """Inside the block, SIGINT and SIGTERM end this process: it waits for others, and has nothing to save."""
    numbers = signal.SIGINT, signal.SIGTERM
    before = {number: signal.signal(number, signal.SIG_DFL) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def silent_unless_first() -> Iterator[None]:
    """Inside the block, discard the standard output of all processes but the first."""
    if rank() == 0:
        yield
        return
    with open(os.devnull, "w", encoding="utf-8") as nowhere, contextlib.redirect_stdout(nowhere):  # noqa: PTH123
        yield


def is_first_to_report(store: Any) -> bool:
    """Return whether no other process has reported an error: all may fail in the same way."""
    try:
        return store.add("errors", 1) == 1
    except RuntimeError:  # torchrun, which keeps the store, has ended
        return True


def lost_process(error: BaseException) -> RunError | None:
    """Return an error that says so if `error` is what this process gets when another one has ended."""
    if count() == 1 or isinstance(error, Explained) or not isinstance(error, RuntimeError):
        return None
    if not isinstance(error, dist.DistError) and not any(sign in str(error) for sign in LOST):
        return None
    return RunError(
        "another process of this training has ended, so this one ends as well; the same command with ",
        Option("resume", "auto"),
        " goes on from the last checkpoint",
    )


def first_then_others(make: Callable[[], Value]) -> Value:
    """Return `make()`, which the first process calls before the others, for example to download data."""
    if count() == 1:
        return make()
    if rank() == 0:
        made = make()
    dist.barrier(Control.group)
    return made if rank() == 0 else make()


def own_device(device: torch.device, reason: str, wanted: str) -> tuple[torch.device, str]:
    """Return the device of this process and the reason. Raises UsageError when there are too few GPUs.

    `wanted` is what the user typed, `device` and `reason` are those of a single process.
    """
    if count() == 1 or device.type == "cpu":
        return device, reason
    if device.type == "mps":
        why = "a Mac has one GPU, and torch.distributed does not send its tensors"
        if wanted == "mps":
            raise UsageError(f"--device mps is for one process: {why}; start the program without torchrun")
        return torch.device("cpu"), f"{reason}; no MPS for several processes: {why}"
    if not dist.is_nccl_available():
        raise UsageError("this PyTorch has no NCCL, which several GPUs need; use --device cpu")
    own, gpus = int(os.environ.get("LOCAL_RANK", "0")), torch.cuda.device_count()
    if own >= gpus:
        raise UsageError(f"process {own} of this machine has no GPU: start at most {gpus} (--nproc-per-node)")
    torch.cuda.set_device(own)
    return torch.device("cuda", own), reason


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message."""
    return str(error).partition("\n")[0]


def check_alike(what: str, value: Any) -> None:
    """Raise UsageError unless all processes have the same `value`."""
    if count() == 1:
        return
    values: list[Any] = [None] * count()
    dist.all_gather_object(values, (socket.gethostname(), value), group=Control.group)
    for number, (host, other) in enumerate(values):
        if other != values[0][1]:
            raise UsageError(
                f"{what} differs: {values[0][1]} in process 0 on {values[0][0]}, {other} in process {number} "
                f"on {host}; all processes need the same"
            )


# --8<-- [start:decisions]
def largest(*values: int) -> list[int]:
    """Return the largest of each of these values over all processes."""
    if count() == 1:
        return list(values)
    found = torch.tensor(values)
    dist.all_reduce(found, dist.ReduceOp.MAX, group=Control.group)
    return found.tolist()


def from_first(value: Callable[[], Value]) -> Value:
    """Return what `value()` is in the first process; the others wait, and do not call it."""
    if count() == 1:
        return value()
    found: list[Any] = [value() if rank() == 0 else None]
    dist.broadcast_object_list(found, 0, group=Control.group)
    return found[0]


# --8<-- [end:decisions]
# --8<-- [start:shares]
def own_size(batch_size: int) -> int:
    """Return how many samples of a microbatch of `batch_size` each process computes: an even share."""
    return batch_size // count()


def own_order(order: torch.Tensor, batch_size: int) -> torch.Tensor:
    """Return this process's samples of an epoch's `order` (samples,), made of microbatches of `batch_size`.

    An incomplete last one is left out.
    """
    if count() == 1:
        return order
    whole = order[: len(order) // batch_size * batch_size]
    return whole.view(-1, count(), own_size(batch_size))[:, rank()].flatten()


# --8<-- [end:shares]
# --8<-- [start:synchronised]
def synchronised(network: nn.Module, device: torch.device) -> nn.Module:
    """Return `network` so that `backward` averages the gradients over all processes."""
    if count() == 1:
        return network
    numbers = [device.index] if device.type == "cuda" else None
    # Statistics of batch normalisation stay those of each process; the first one's are saved.
    own_statistics = {BUFFERS: False}
    return DistributedDataParallel(network, numbers, gradient_as_bucket_view=True, **own_statistics)


def averaged_last(network: Any, parts: Iterable[Value]) -> Iterator[Value]:
    """Yield the microbatches of a step; their gradients are averaged in the backward pass of the last one."""
    if count() == 1 or not isinstance(network, DistributedDataParallel):
        yield from parts
        return
    parts = list(parts)
    for number, part in enumerate(parts, 1):
        network.require_backward_grad_sync = number == len(parts)
        yield part


def mean(values: torch.Tensor) -> torch.Tensor:
    """Return the mean of `values` over all processes, without gradients."""
    if count() == 1:
        return values
    total = values.detach().clone() / count()
    dist.all_reduce(total)
    return total


# --8<-- [end:synchronised]
# --8<-- [start:gathered]
class Gathered(torch.autograd.Function):
    """The rows of all processes, in the order of the batch; gradients return to the process of a row."""

    @staticmethod
    def forward(context: Any, own: torch.Tensor) -> torch.Tensor:
        """Return the rows (processes × batch, …) of all processes for the own ones (batch, …)."""
        found = [torch.empty_like(own) for _ in range(count())]
        dist.all_gather(found, own.contiguous())
        return torch.cat(found)

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> torch.Tensor:
        """Return the sum over all processes of the gradients of the own rows."""
        total = gradient.contiguous().clone()
        dist.all_reduce(total)
        return total.chunk(count())[rank()]


def gathered(own: torch.Tensor) -> torch.Tensor:
    """Return the rows of the whole batch, of which this process has `own` (batch, …)."""
    return own if count() == 1 else Gathered.apply(own)


# --8<-- [end:gathered]
# --8<-- [start:draws]
class DrawsOfBatch(TorchFunctionMode):
    """Inside the block, each sample gets the random numbers that it would get in a single process.

    Every process draws for the whole batch and takes the rows of its samples. The first dimension of what is
    drawn must run over the samples of a microbatch, or of `parts` of them. It knows the functions below;
    others would draw the same in all processes.
    """

    def __init__(self, parts: int, device: torch.device) -> None:
        super().__init__()
        self.parts, self.device = parts, device

    def __torch_function__(
        self, function: Any, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Call `function`, or draw as many times more rows as there are processes and return the own ones."""
        kwargs = kwargs or {}
        if function in (torch.rand, torch.randn):
            size = args[0] if len(args) == 1 and not isinstance(args[0], int) else args
            return self.own_rows(lambda size: function(size, **kwargs), size)
        if function is torch.randint:
            *limits, size = args
            return self.own_rows(lambda size: function(*limits, size, **kwargs), size)
        if function in (torch.rand_like, torch.randn_like):
            like = args[0]
            return self.own_rows(lambda size: function(like.new_empty(size), **kwargs), like.shape)
        if function is F.dropout and kwargs["training"]:
            return args[0] * self.dropout(args[0], kwargs["p"])
        if function is F.scaled_dot_product_attention and kwargs.get("dropout_p"):
            queries, keys, values = args
            weights = (queries @ keys.mT / queries.shape[-1] ** 0.5).softmax(-1)
            return (weights * self.dropout(weights, kwargs["dropout_p"])) @ values
        return function(*args, **kwargs)

    def own_rows(self, draw: Callable[[Sequence[int]], torch.Tensor], size: Sequence[int]) -> torch.Tensor:
        """Return this process's rows, of `size`, of what `draw` returns for those of all processes."""
        rows, *others = size
        whole = draw((rows * count(), *others))
        return whole.view(self.parts, count(), rows // self.parts, *others)[:, rank()].flatten(0, 1)

    def dropout(self, values: torch.Tensor, share: float) -> torch.Tensor:
        """Return factors for `values`: 0 for a random `share` of them, 1 / (1 - share) for the others."""
        return self.own_rows(lambda size: F.dropout(values.new_ones(size), share), values.shape)

    def outside(self, network: Callable[..., Value]) -> Callable[..., Value]:
        """Return `network` so that it runs outside the block if it is compiled or on a GPU, else as it is.

        A GPU has fused operators for dropout, which this block would take apart. Compiled inside the block,
        networks learned wrongly without an error (PyTorch 2.13 and 2.15). There, each process draws the
        dropout of its own samples from a stream of its own.
        """
        compiled = hasattr(getattr(network, "module", network), "_orig_mod")
        if self.device.type != "cuda" and not compiled:
            return network

        def run(*inputs: Any, **named: Any) -> Value:
            self.__exit__(None, None, None)
            try:
                with own_stream(self.device):
                    return network(*inputs, **named)
            finally:
                self.__enter__()

        return run


def own_stream(device: torch.device) -> contextlib.AbstractContextManager[None]:
    """Inside the block, each process draws other numbers on the device; then all draw the same again."""
    return own_stream_of_gpu(device) if device.type == "cuda" else own_stream_of_cpu()


@contextlib.contextmanager
def own_stream_of_cpu() -> Iterator[None]:
    """Inside the block, each process draws other numbers on the CPU; the stream goes on only if one did."""
    with torch.random.fork_rng(devices=[]):
        seed = int(torch.randint(2**62, ()))
        torch.default_generator.manual_seed(seed + rank())
        before = torch.get_rng_state()
        yield
        drew = not torch.equal(before, torch.get_rng_state())
    if drew:
        torch.rand(())  # so that the next numbers are others


@contextlib.contextmanager
def own_stream_of_gpu(device: torch.device) -> Iterator[None]:
    """Inside the block, each process draws other numbers on a CUDA device."""
    generator = torch.cuda.default_generators[device.index or 0]
    seed, offset = generator.initial_seed(), generator.get_offset()
    generator.manual_seed(seed + 1_000_003 * rank())
    generator.set_offset(offset)
    try:
        yield
    finally:
        offset = generator.get_offset()  # equal in all processes, which draw equally many
        generator.manual_seed(seed)
        generator.set_offset(offset)


@contextlib.contextmanager
def draws_of_batch(device: torch.device, parts: int = 1) -> Iterator[Callable[[Any], Any]]:
    """Draw as DrawsOfBatch does inside the block; yields a function that a network is passed through.

    With one process, nothing changes.
    """
    if count() == 1:
        yield lambda network: network
        return
    with DrawsOfBatch(parts, device) as draws:
        yield draws.outside


# --8<-- [end:draws]
