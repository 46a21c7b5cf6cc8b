"""Measure how long a newcomer waits: from a clone to the first network, and to the served site.

    python -m tools.measuring.first_network [--cache]

Each command runs in a fresh clone of the last commit, with an empty home folder and no environment; without
--cache pip has nothing stored either. The third measurement trains while four other programs compute for each
core: with the usual number of threads and with one, in turn.

docs/data/results/first_network.yaml gets seconds, and megabytes (10⁶ bytes) of `.venv`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from snippets.timing import spread
from tools.measuring.result_entries import RESULTS, origin, rounded, write
from tools.working_copy import environment

ROOT = Path(__file__).resolve().parents[2]
DATA = RESULTS / "first_network.yaml"
PORT = 8017
PAIRS = 2
TRAINING = "examples/cifar_optimizers/train.py"
HEADER = "# Written by tools/measuring/first_network.py, which says what each value is.\n"


@contextmanager
def newcomer(cache: bool) -> Iterator[tuple[Path, dict[str, str]]]:
    """Yield a fresh clone and the environment of somebody who has never used it."""
    with tempfile.TemporaryDirectory(prefix="mps-handbook-") as folder:
        clone, home = Path(folder, "clone"), Path(folder, "home")
        home.mkdir()
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        settings = {"HOME": str(home), "XDG_CACHE_HOME": str(home / ".cache")}
        if not cache:
            settings["PIP_CACHE_DIR"] = str(home / "pip")
        if (own_settings := Path.home() / ".config/pip/pip.conf").is_file():
            settings["PIP_CONFIG_FILE"] = str(own_settings)
        own = str(Path(sys.executable).parent)
        path = os.pathsep.join(place for place in os.environ["PATH"].split(os.pathsep) if place != own)
        yield clone, environment() | settings | {"PATH": path, "PYTHON": sys.executable}


def megabytes(folder: Path) -> int:
    """Return the size of the files in a folder on disk, in 10⁶ bytes; what hard links share counts once."""
    done = subprocess.run(["du", "-sk", folder], capture_output=True, text=True, check=True)
    return round(int(done.stdout.split()[0]) * 1024 / 1e6)


def first_network(cache: bool) -> dict[str, object]:
    """Return seconds and megabytes of `make train` in a fresh clone, and the seconds of a second one."""
    with newcomer(cache) as (clone, settings):
        seconds = []
        for _ in range(2):
            began = time.perf_counter()
            subprocess.run(["make", "train"], cwd=clone, env=settings, check=True)
            seconds.append(round(time.perf_counter() - began, 1))
        probe = [str(clone / ".venv/bin/python"), "-c", "import torch; print(torch.__version__)"]
        build = subprocess.run(probe, capture_output=True, text=True, check=True).stdout.strip()
        return {
            "seconds": seconds[0],
            "again": seconds[1],
            "megabytes": megabytes(clone / ".venv"),
            "torch": build,
        }


def served_site(cache: bool) -> dict[str, object]:
    """Return seconds until `make serve` answers in a fresh clone, and the megabytes of its environment."""
    with newcomer(cache) as (clone, settings):
        began = time.perf_counter()
        command = ["make", "serve", f"PORT={PORT}"]
        server = subprocess.Popen(command, cwd=clone, env=settings, start_new_session=True)
        try:
            while server.poll() is None:
                try:
                    with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/zh/", timeout=60):
                        seconds = round(time.perf_counter() - began, 1)
                        return {"seconds": seconds, "megabytes": megabytes(clone / ".venv")}
                except urllib.error.URLError:
                    time.sleep(0.2)
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait()
    raise RuntimeError("make serve ended before it served anything")


def seconds_of_training(**variables: str) -> float:
    """Return the seconds of two epochs of the default training, start-up included."""
    with tempfile.TemporaryDirectory(prefix="mps-handbook-") as folder:
        command = [
            sys.executable,
            TRAINING,
            "--epochs",
            "2",
            "--device",
            "cpu",
            "--out",
            str(Path(folder, "run")),
        ]
        began = time.perf_counter()
        settings = environment() | variables
        subprocess.run(command, cwd=ROOT, env=settings, stdout=subprocess.DEVNULL, check=True)
        return time.perf_counter() - began


def on_busy_cores() -> dict[str, dict[str, float]]:
    """Return the seconds of trainings beside four endless computations for each core."""
    loads = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4 * (os.cpu_count() or 1))
    ]
    found: dict[str, list[float]] = {"usual": [], "one_thread": []}
    try:
        for _ in range(PAIRS):
            found["usual"].append(seconds_of_training())
            found["one_thread"].append(seconds_of_training(OMP_NUM_THREADS="1"))
    finally:
        for load in loads:
            load.kill()
            load.wait()
    return {name: rounded(spread(seconds), 3) for name, seconds in found.items()}


def main() -> int:
    """Measure from the command line; return the exit code."""
    parser = argparse.ArgumentParser(description="Time the first network.", allow_abbrev=False)
    parser.add_argument("--cache", action="store_true", help="let pip use what it has stored")
    cache = parser.parse_args().cache
    if shutil.which("make") is None:
        parser.error("there is no make here")
    content = origin(f"python -m tools.measuring.first_network{' --cache' if cache else ''}")
    for name, found in (
        ("make train", lambda: first_network(cache)),
        ("make serve", lambda: served_site(cache)),
        ("busy", on_busy_cores),
    ):
        content[name] = found()
        write(content, DATA, HEADER)
    return 0


if __name__ == "__main__":
    sys.exit(main())
