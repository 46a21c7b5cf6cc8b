"""Several processes see each sample once, and compute what one process computes for the whole batch."""

import multiprocessing
import os
import socket
import subprocess
import sys
import traceback
from datetime import timedelta
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F
from torch.utils.data import TensorDataset

from examples.two_tower.loss import info_nce, no_negatives
from snippets import data_on_device, data_order, processes
from snippets.data_loading import EpochLoader
from snippets.data_on_device import ResidentBatches
from snippets.data_order import EpochBatches, epoch_order
from snippets.errors import RunError, UsageError
from snippets.processes import (
    DrawsOfBatch,
    averaged_last,
    draws_of_batch,
    gathered,
    is_first_to_report,
    joined,
    largest,
    lost_process,
    mean,
    own_device,
    own_order,
    own_size,
    synchronised,
)

SAMPLES, SEED = 47, 3


@pytest.fixture
def as_process(monkeypatch):
    """Return a function that makes this process believe that it is number `own` of `others`."""

    def become(own, others):
        monkeypatch.setattr(processes, "count", lambda: others)
        monkeypatch.setattr(processes, "rank", lambda: own)

    return become


@pytest.fixture
def in_each(as_process):
    """Return a function that gives what `act()` returns in each of several processes."""

    def results(others, act):
        found = []
        for own in range(others):
            as_process(own, others)
            found.append(act())
        as_process(0, 1)
        return found

    return results


# ---- Samples ----


def indices_of_keys(batch_size, parts, epoch, first=0):
    batches = EpochBatches(SAMPLES, batch_size, SEED, parts)
    batches.start_at(epoch, first)
    return [[index for _, index in batch] for batch in batches]


def resident_indices(batch_size, parts, epoch, first=0):
    batches = ResidentBatches([torch.arange(SAMPLES)], batch_size, SEED, parts)
    return [batch.tolist() for (batch,) in batches.batches(epoch, first)]


def loaded_indices(batch_size, parts, epoch, first=0):
    samples, cpu = TensorDataset(torch.arange(SAMPLES)), torch.device("cpu")
    loader = EpochLoader(samples, batch_size, SEED, workers=0, device=cpu, parts=parts)
    return [batch.tolist() for (batch,) in loader.batches(epoch, first)]


@pytest.mark.parametrize("read", [indices_of_keys, resident_indices, loaded_indices])
@pytest.mark.parametrize(("others", "parts"), [(2, 1), (2, 2), (3, 1), (3, 2)])
def test_processes_share_each_microbatch(in_each, read, others, parts):
    """Put together, microbatch by microbatch, their samples are those of one process, in its order."""
    batch_size = 6 * parts
    (whole,) = in_each(1, lambda: read(batch_size, parts, 1))
    shares = in_each(others, lambda: read(batch_size, parts, 1))
    assert len(whole) == SAMPLES // batch_size
    for number, batch in enumerate(whole):
        own = [torch.tensor(share[number]).chunk(parts) for share in shares]
        together = [rows[part] for part in range(parts) for rows in own]
        assert torch.cat(together).tolist() == batch
    seen = [index for share in shares for batch in share for index in batch]
    assert sorted(seen) == sorted(epoch_order(SAMPLES, SEED, 1)[: len(whole) * batch_size].tolist())
    for share, later in zip(shares, in_each(others, lambda: read(batch_size, parts, 1, 2)), strict=True):
        assert share[2:] == later


def test_processes_with_equal_samples_would_be_found(in_each, monkeypatch):
    """The negative control of the test above."""

    def first_share(order, size):
        whole = order[: len(order) // size * size]
        return whole.view(-1, processes.count(), size // processes.count())[:, 0].flatten()

    monkeypatch.setattr(data_order, "own_order", first_share)
    monkeypatch.setattr(data_on_device, "own_order", first_share)
    for read in (indices_of_keys, resident_indices, loaded_indices):
        with pytest.raises(AssertionError):
            test_processes_share_each_microbatch(in_each, read, 2, 1)


def test_an_incomplete_last_microbatch_is_left_out(in_each):
    order = torch.arange(20)
    assert torch.cat(in_each(2, lambda: own_order(order, 6))).sort().values.tolist() == list(range(18))
    assert in_each(1, lambda: own_order(order, 6))[0] is order
    assert in_each(3, lambda: own_size(6)) == [2, 2, 2]


# ---- Random numbers ----

CPU = torch.device("cpu")
ROWS, PARTS = 6, 2
LIKE = torch.zeros(ROWS, 5)
ATTENDED = [torch.randn(ROWS, 2, 4, 3, generator=torch.Generator().manual_seed(n)) for n in range(3)]


def attention(rows):
    queries, keys, values = (part[rows] for part in ATTENDED)
    return F.scaled_dot_product_attention(queries, keys, values, dropout_p=0.4)


DRAWS = {
    "rand": lambda rows: torch.rand(len(rows), 3),
    "rand of a size": lambda rows: torch.rand((len(rows), 3), dtype=torch.float64),
    "randn": lambda rows: torch.randn(len(rows)),
    "randn of many": lambda rows: torch.randn(torch.Size([len(rows), 7])),  # 16 and more: another algorithm
    "randint": lambda rows: torch.randint(9, (len(rows), 4)),
    "randint between": lambda rows: torch.randint(5, 99, (len(rows),)),
    "rand_like": lambda rows: torch.rand_like(LIKE[rows]),
    "randn_like": lambda rows: torch.randn_like(LIKE[rows], dtype=torch.float64),
    "dropout": lambda rows: F.dropout(LIKE[rows] + 1, 0.3),
    "dropout of a module": lambda rows: nn.Dropout(0.3)(LIKE[rows] + 1),
    "no dropout": lambda rows: nn.Dropout(0.3).eval()(LIKE[rows] + 1),
    "attention": attention,
}


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize(("others", "parts"), [(2, 1), (3, 1), (3, PARTS)])
def test_draws_are_the_rows_of_the_whole_batch(as_process, name, others, parts):
    """And afterwards, all processes have the same state, that of one process."""
    draw, per_part = DRAWS[name], ROWS // parts
    torch.manual_seed(SEED)
    whole, state = draw(torch.arange(ROWS)), torch.get_rng_state()
    for own in range(others):
        as_process(own, others)
        rows = torch.arange(ROWS).view(parts, others, per_part // others)[:, own].flatten()
        torch.manual_seed(SEED)
        with DrawsOfBatch(parts, CPU):
            found = draw(rows)
        torch.testing.assert_close(found, whole[rows], rtol=0 if name != "attention" else 1e-5, atol=1e-6)
        assert found.dtype == whole.dtype
        assert torch.equal(torch.get_rng_state(), state)


def test_draws_without_the_block_would_be_found(as_process, monkeypatch):
    """The negative control of the test above; a single process needs no block."""
    monkeypatch.setattr(
        processes.DrawsOfBatch, "__torch_function__", lambda s, f, t, a, k=None: f(*a, **k or {})
    )
    for name in DRAWS.keys() - {"no dropout"}:
        with pytest.raises(AssertionError):
            test_draws_are_the_rows_of_the_whole_batch(as_process, name, 2, 1)
    as_process(0, 1)
    assert torch.equal(drawn_in_a_block(), drawn_in_a_block())
    rows = []
    for own in range(2):
        as_process(own, 2)
        rows.append(drawn_in_a_block())
    assert torch.equal(rows[0], rows[1])  # the negative control: both are the first rows of the stream


def drawn_in_a_block():
    """Return four numbers that are drawn inside draws_of_batch."""
    torch.manual_seed(SEED)
    with draws_of_batch(CPU) as drawn:
        assert drawn(torch.rand) is torch.rand  # on a CPU, a network stays inside the block
        return torch.rand(4)


class FakeGenerator:
    """A generator of a GPU, as far as own_stream uses it."""

    def __init__(self):
        self.seed, self.offset = 5, 8

    def initial_seed(self):
        return self.seed

    def get_offset(self):
        return self.offset

    def manual_seed(self, seed):
        self.seed, self.offset = seed, 0

    def set_offset(self, offset):
        self.offset = offset


def test_networks_on_gpus_draw_from_own_streams(as_process, monkeypatch):
    """A network does not see the block, and all processes go on with the same seed, further down."""
    generator, seeds = FakeGenerator(), []
    monkeypatch.setattr(torch.cuda, "default_generators", [generator])

    def network(rows):
        seeds.append((generator.seed, generator.offset))
        generator.offset += 4
        return torch.rand(rows)

    for own in range(2):
        as_process(own, 2)
        expected = torch.rand(3, generator=torch.Generator().manual_seed(SEED))
        torch.manual_seed(SEED)
        with draws_of_batch(torch.device("cuda", 0)) as drawn:
            assert torch.equal(drawn(network)(3), expected)
        assert (generator.seed, generator.offset) == (5, 8 + 4 * (own + 1))
    assert [offset for _, offset in seeds] == [8, 12]
    assert seeds[0][0] == 5 != seeds[1][0]


class Compiled:
    """A compiled network, as far as `outside` looks at it, with dropout or without."""

    _orig_mod = None

    def __init__(self, draws):
        self.draws = draws

    def __call__(self, rows):
        return torch.rand(rows) if self.draws else torch.zeros(rows)


@pytest.mark.parametrize("draws", [False, True])
def test_compiled_networks_draw_from_own_streams(as_process, draws):
    """Inside the block they learned wrongly. What is drawn afterwards is the same in all processes."""
    inside, afterwards = [], []
    for own in range(2):
        as_process(own, 2)
        torch.manual_seed(SEED)
        with draws_of_batch(CPU) as drawn:
            network = drawn(Compiled(draws))
            inside.append([network(3) for _ in range(2)])
        afterwards.append(torch.rand(3))
    assert torch.equal(*afterwards)
    if draws:
        assert not torch.equal(inside[0][0], inside[1][0])
        assert not torch.equal(inside[0][0], inside[0][1])
    else:  # nothing was taken from the stream of a single process
        assert torch.equal(afterwards[0], torch.rand(3, generator=torch.Generator().manual_seed(SEED)))


# ---- The contrastive loss ----


def test_shares_have_the_loss_of_the_batch():
    torch.manual_seed(SEED)
    contexts, payloads = (F.normalize(torch.randn(12, 5), dim=1) for _ in range(2))
    extra, missing = F.normalize(torch.randn(12, 3, 5), dim=2), torch.rand(12, 3) < 0.3
    articles, scale = torch.arange(12) // 3, torch.tensor(7.0)
    payload_ids = torch.tensor([*range(10), 0, 1])
    no_negative = no_negatives(articles, payload_ids)
    assert no_negative.any()
    whole = info_nce(contexts, payloads, scale, extra, no_negative, missing)
    for others in (2, 3):
        shares = []
        for first in range(0, 12, 12 // others):
            rows = slice(first, first + 12 // others)
            own = no_negatives(articles, payload_ids, first, 12 // others)
            assert torch.equal(own, no_negative[rows])
            shares.append(info_nce(contexts[rows], payloads, scale, extra[rows], own, missing[rows], first))
        torch.testing.assert_close(torch.stack(shares).mean(0), whole)


# ---- Two real processes ----


def contrast(network, given, others):
    """Return the contrastive loss of given rows, the own payloads against those of all processes."""
    left, right = network(given).chunk(2, 1)
    every = gathered(right)
    first = processes.rank() * len(given)
    wanted = torch.arange(first, first + len(given))
    return F.cross_entropy(left @ every.T, wanted)


def network():
    torch.manual_seed(SEED)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 6))


GIVEN = torch.randn(12, 4, generator=torch.Generator().manual_seed(SEED))


def gradients(others, parts):
    """Return the gradients of the mean loss of all parts."""
    module = network()
    shared = synchronised(module, torch.device("cpu"))
    for part in averaged_last(shared, GIVEN.chunk(parts)):
        own = part.chunk(others)[processes.rank()]
        (contrast(shared, own, others) / parts).backward()
    return [weight.grad.clone() for weight in module.parameters()]


def in_process(own, port, pipe, act):
    """Send through `pipe` what `act` returns in process `own` of two."""
    os.environ.update(WORLD_SIZE="2", RANK=str(own), LOCAL_RANK=str(own), MASTER_ADDR="127.0.0.1")
    os.environ.update(MASTER_PORT=str(port), OMP_NUM_THREADS="1")
    processes.LATE = processes.DOWNLOADING = timedelta(seconds=60)
    torch.set_num_threads(1)
    try:
        with joined():
            pipe.send(act())
    except BaseException:
        pipe.send(traceback.format_exc())


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def everything():
    """Return what several functions give in one of two processes."""
    own = processes.rank()
    rows = torch.arange(3.0) + 10 * own
    rows.requires_grad_()
    every = gathered(rows)
    (every * torch.arange(6.0) * (own + 1)).sum().backward()
    calls = []
    made = processes.first_then_others(lambda: calls.append(own) or own)
    told = processes.from_first(lambda: calls.append(10 + own) or {"from": own})
    with pytest.raises(UsageError) as differs:
        processes.check_alike("the number", own)
    processes.check_alike("the word", "same")
    return {
        "gathered": every.tolist(),
        "gradient": rows.grad.tolist(),
        "mean": mean(torch.tensor([1, 4 * own])).tolist(),
        "largest": largest(own, 1 - own, 5),
        "first": (made, told, calls),
        "differs": str(differs.value),
        "gradients": {parts: [g.tolist() for g in gradients(2, parts)] for parts in (1, 2)},
    }


@pytest.mark.program
def test_functions_in_two_processes(as_process):
    """What they exchange arrives, and gradients are those of one process."""
    context, port = multiprocessing.get_context("spawn"), free_port()
    pipes = [context.Pipe() for _ in range(2)]
    started = [
        context.Process(target=in_process, args=(own, port, pipes[own][1], everything)) for own in range(2)
    ]
    for process in started:
        process.start()
    found = []
    for receiving, _ in pipes:
        assert receiving.poll(120)
        found.append(receiving.recv())
    for process in started:
        process.join(60)
    assert [process.exitcode for process in started] == [0, 0], found
    for own, results in enumerate(found):
        assert results["gathered"] == [0, 1, 2, 10, 11, 12]
        assert results["gradient"] == [3.0 * n for n in range(3 * own, 3 * own + 3)]  # 1 and 2 times: both
        assert results["mean"] == [1, 2]
        assert results["largest"] == [1, 1, 5]
        assert results["first"] == (own, {"from": 0}, [0, 10] if own == 0 else [1])
        places = [f"{n} in process {n} on {socket.gethostname()}" for n in range(2)]
        assert results["differs"] == f"the number differs: {', '.join(places)}; all processes need the same"
        for parts, shared in results["gradients"].items():
            alone = gradients(1, parts)
            for one, several in zip(alone, shared, strict=True):
                torch.testing.assert_close(torch.tensor(several), one, rtol=1e-5, atol=1e-7)


# ---- One process, and errors ----


def test_one_process_is_left_alone(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "1")
    module, values = nn.Linear(2, 2), torch.ones(3)
    with joined():
        assert (processes.count(), processes.rank()) == (1, 0)
        assert synchronised(module, torch.device("cpu")) is module
        assert mean(values) is values and gathered(values) is values
        assert largest(4, 2) == [4, 2]
        assert processes.from_first(lambda: 7) == processes.first_then_others(lambda: 7) == 7
        assert list(averaged_last(module, [1, 2])) == [1, 2]
        processes.check_alike("anything", object())
        assert own_device(torch.device("mps"), "as requested", "mps")[0].type == "mps"
    assert not dist.is_initialized()


@pytest.mark.parametrize("variables", [{}, {"RANK": "0"}, {"RANK": "0", "MASTER_ADDR": "127.0.0.1"}])
def test_missing_variables_are_an_error(monkeypatch, variables):
    for name in ("RANK", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in (variables | {"WORLD_SIZE": "2"}).items():
        monkeypatch.setenv(name, value)
    with (
        pytest.raises(UsageError, match=r"the processes do not find each other: .*expected, but not set"),
        joined(),
    ):
        pass


def test_devices_of_several_processes(as_process, monkeypatch):
    as_process(1, 2)
    cpu = torch.device("cpu")
    assert own_device(cpu, "as requested", "cpu") == (cpu, "as requested")
    device, reason = own_device(torch.device("mps"), "automatic choice", "auto")
    assert device == cpu
    assert reason.startswith("automatic choice; no MPS for several processes: a Mac has one GPU")
    with pytest.raises(
        UsageError, match=r"--device mps is for one process: .*start the program without torchrun"
    ):
        own_device(torch.device("mps"), "as requested", "mps")
    cuda = torch.device("cuda")
    monkeypatch.setattr(dist, "is_nccl_available", lambda: False)
    with pytest.raises(
        UsageError, match="this PyTorch has no NCCL, which several GPUs need; use --device cpu"
    ):
        own_device(cuda, "as requested", "cuda")
    monkeypatch.setattr(dist, "is_nccl_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setenv("LOCAL_RANK", "1")
    with pytest.raises(UsageError, match=r"process 1 of this machine has no GPU: start at most 1 \(--nproc"):
        own_device(cuda, "as requested", "cuda")
    chosen = []
    monkeypatch.setattr(torch.cuda, "set_device", chosen.append)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert own_device(cuda, "as requested", "cuda") == (torch.device("cuda", 1), "as requested")
    assert chosen == [1]


def test_errors_of_lost_processes_are_known(as_process):
    as_process(0, 2)
    lost = (
        dist.DistBackendError("NCCL error in …"),
        RuntimeError("[gloo/pair.cc:1] Connection closed by peer"),
    )
    for error in lost:
        assert "another process of this training has ended" in str(lost_process(error))
    for other in (
        RuntimeError("shapes differ"),
        ValueError("gloo"),
        RunError("gloo"),
        UsageError("Broken pipe"),
    ):
        assert lost_process(other) is None
    as_process(0, 1)
    assert lost_process(lost[1]) is None  # there is no other one


@pytest.mark.program
def test_one_process_needs_no_distributed_package():
    """Some builds of PyTorch have none; nothing but `is_available` is there then."""
    program = (
        "import torch.distributed as d\n"
        "for name in ('Store', 'DistError', 'HashStore', 'is_initialized'): delattr(d, name)\n"
        "d.is_available = lambda: False\n"
        "from snippets.processes import count, joined, lost_process\n"
        "with joined(): print(count(), lost_process(RuntimeError('gloo')))"
    )
    command = [sys.executable, "-c", program]
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("1 None\n", 0), done.stderr


def test_the_first_to_report_is_one():
    store = dist.HashStore()
    assert [is_first_to_report(store) for _ in range(3)] == [True, False, False]
