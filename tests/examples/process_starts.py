"""Train in several processes, as `test_processes.py` asks for: forked, since imports take seconds.

Reads jobs from standard input, one a line as JSON, and answers each with a line: exit codes, errors and
outputs of the processes in their order, the seconds until the last one ended, and those that the CPU worked.
A job is
{"program": …, "folder": working folder, "words": options, "count": processes} and may have more:

- "own": for each process, a list of the keys of RANKS, what happens to it before it trains
- "by hand": True lets the first process keep the store
- "further": for each process, more words
- "started": how many of the processes there are, by default all
- "like torchrun": True lets the others get SIGTERM when a process fails
- "patience": seconds after which what hangs is killed
- "environment": variables
"""

import contextlib
import importlib
import json
import os
import resource
import signal
import sys
import threading
import time
import traceback
from datetime import timedelta
from pathlib import Path

import torch
import torch._dynamo  # the first optimizer step would import it, in each child
import torch.distributed as dist

from examples.systems import modules
from snippets import processes, training_loop
from snippets.errors import exit_with_one_line
from snippets.training_loop import Training

PATIENCE = 120.0  # seconds


def at_step(step, act):
    """Call `act()` in the given step, before the process learns what others received."""
    original = Training.after_step

    def after_step(training, *given):
        if training.state.step == step:
            act()
        return original(training, *given)

    Training.after_step = after_step


def save_often():
    """Let the run save whenever it looks at the loss."""
    training_loop.FIRST_SAVE, training_loop.SAVE_SHARE = 0.0, float("inf")


def own_draws():
    """Plant a fault: each process draws for its own samples alone."""
    training_loop.draws_of_batch = lambda device: contextlib.nullcontext(lambda network: network)


def own_negatives():
    """Plant a fault: each process contrasts its own pairs alone."""
    train = importlib.import_module("examples.two_tower.train")
    train.gathered, train.rank = lambda own: own, lambda: 0


def unequal_shares():
    """Plant a fault: losses are the means of the own share, whatever the others have."""
    for name in ("floorplan_diffusion.train_edges", "genomic_caduceus.pretrain"):
        importlib.import_module(f"examples.{name}").mean = lambda values: values


def no_averaging():
    """Plant a fault: the gradients stay those of each process."""
    training_loop.synchronised = lambda network, device: network


def repeated():
    """Plant a fault: in each step, the second process repeats the samples of the first."""
    from snippets import data_on_device, data_order

    first = processes.own_order

    def own_order(order, size):
        whole = order[: len(order) // size * size]
        return whole.view(-1, processes.count(), size // processes.count())[:, 0].flatten()

    assert first is data_order.own_order
    data_order.own_order = data_on_device.own_order = own_order


def compares():
    """Compare with the uncompiled network as --compile does, but compile nothing."""

    def compile_or_eager(module, loss, cuda_graphs):
        with torch.random.fork_rng(devices=[]):
            loss(module)
        return module, "compiled"

    importlib.import_module("examples.programs.program").compile_or_eager = compile_or_eager


def compares_with_others():
    """Plant a fault: while the others wait, the comparison asks for their share."""
    importlib.import_module("examples.programs.program").alone = contextlib.nullcontext
    compares()


def kill():
    """End this process as a lack of memory would."""
    os.kill(os.getpid(), signal.SIGKILL)


def impatient():
    """Wait three seconds for others instead of ten minutes."""
    processes.LATE = processes.DOWNLOADING = timedelta(seconds=3)


RANKS = {
    "save often": save_often,
    "compares": compares,
    "compares with others": compares_with_others,
    "own draws": own_draws,
    "own negatives": own_negatives,
    "unequal shares": unequal_shares,
    "no averaging": no_averaging,
    "repeated": repeated,
    "impatient": impatient,
    "killed at 7": lambda: at_step(7, kill),
    "killed at once": kill,
    "killed late": lambda: (time.sleep(1), kill()),  # the others have begun to wait
    "terminated at 5": lambda: at_step(5, lambda: signal.raise_signal(signal.SIGTERM)),
    "interrupted at 5": lambda: at_step(5, lambda: signal.raise_signal(signal.SIGINT)),
    "other PyTorch": lambda: setattr(torch, "__version__", torch.torch_version.TorchVersion("2.0.0")),
    "no NCCL": lambda: setattr(dist, "is_nccl_available", lambda: False),
    "a GPU": lambda: setattr(torch.cuda, "is_available", lambda: True),
    "other place": lambda: (Path("elsewhere").mkdir(exist_ok=True), os.chdir("elsewhere")),
    "leaves": lambda: os._exit(7),
}


def store():
    """Start the process that keeps the store, as torchrun does; return its number and the port."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        served = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
        os.write(writing, f"{served.port}\n".encode())
        signal.pause()
    os.close(writing)
    with os.fdopen(reading) as port:
        return child, port.readline().strip()


def end_and_wait(child):
    """End a process."""
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def run_here(job, number, environment, folder):
    """Train in this process, which ends with it."""
    code = 1
    try:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for descriptor, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(f"{folder}/{name}{number}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), descriptor)
        os.chdir(job["folder"])
        os.environ.update(environment | {"RANK": str(number), "LOCAL_RANK": str(number)})
        train = importlib.import_module(modules()[job["program"]])
        train.PROGRAM.report.draw_curves = lambda *arguments: None  # half of the time of a short run
        sys.argv[:] = [train.__file__, *job["words"]]
        for key in job.get("own", [[]] * job["count"])[number]:
            RANKS[key]()
        words = job["words"] + job.get("further", [[]] * job["count"])[number]
        code = exit_with_one_line(train.PROGRAM.main, words)
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def used():
    """Return the seconds that children worked so far."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def start(job):
    """Train as a job says, and return what came of it."""
    folder = Path(job["folder"]) / f"job{len(list(Path(job['folder']).glob('job*')))}"
    folder.mkdir()
    environment = {
        "WORLD_SIZE": str(job["count"]),
        "LOCAL_WORLD_SIZE": str(job["count"]),
        "MASTER_ADDR": "127.0.0.1",
        "OMP_NUM_THREADS": "1",
    }
    keeper = None
    if job["count"] > 1:
        keeper, environment["MASTER_PORT"] = store()
    if keeper and job.get("by hand"):
        end_and_wait(keeper)  # the port is free
        keeper = None
    if keeper:
        environment |= {"TORCHELASTIC_USE_AGENT_STORE": "True", "TORCHELASTIC_RESTART_COUNT": "0"}
        environment |= {"TORCHELASTIC_RUN_ID": "job", "TORCHELASTIC_MAX_RESTARTS": "0", "GROUP_RANK": "0"}
    environment |= job.get("environment", {})
    began, worked, children = time.monotonic(), used(), {}
    for number in range(job.get("started", job["count"])):
        child = os.fork()
        if child == 0:
            run_here(job, number, environment, folder)
        children[child] = number
    codes = wait(dict(children), job.get("patience", PATIENCE), job.get("like torchrun", False))
    if keeper:
        end_and_wait(keeper)
    read = [[(folder / f"{name}{n}").read_text() for n in range(len(children))] for name in ("err", "out")]
    seconds, cpu = time.monotonic() - began, used() - worked
    return {"codes": codes, "err": read[0], "out": read[1], "seconds": seconds, "cpu": cpu}


def wait(children, patience, like_torchrun):
    """Return the exit codes of children; kill them when it takes too long.

    Like torchrun, end all when one fails: they get SIGTERM, and SIGKILL half a minute later.
    """
    codes, timers = {}, [threading.Timer(patience, end, (children, signal.SIGKILL))]
    timers[0].start()
    while children:
        child, status = os.wait()
        codes[children.pop(child)] = os.waitstatus_to_exitcode(status)
        if like_torchrun and os.waitstatus_to_exitcode(status) and len(timers) == 1:
            timers.append(threading.Timer(0.1, end, (children, signal.SIGTERM)))
            timers.append(threading.Timer(30, end, (children, signal.SIGKILL)))
            for timer in timers[1:]:
                timer.start()
    for timer in timers:
        timer.cancel()
        timer.join()  # a fork beside a thread can take over its locks
    return [code for _, code in sorted(codes.items())]


def end(children, number):
    """Send the children that are left a signal."""
    for child in list(children):
        with contextlib.suppress(ProcessLookupError):  # it has ended, and nobody has noticed yet
            os.kill(child, number)


def main():
    """Do what standard input says."""
    torch.set_num_threads(1)
    for name in sys.argv[1:] or modules():
        importlib.import_module(modules()[name])
    import examples.genomic_caduceus.lightning_loop  # noqa: F401

    for line in sys.stdin:
        print(json.dumps(start(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
