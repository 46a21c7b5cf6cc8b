"""What several folders of tests need: the built site, a static server, a browser, what is made only once."""

import atexit
import fcntl
import functools
import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.mkdocs_runs import build_site
from tests.static_server import static_server
from tests.system_browser import system_browser

ROOT = Path(__file__).resolve().parent.parent

# Threads of GNU OpenMP spin while they wait. That is fast on idle cores and ruinous on busy ones: of two
# trainings at once on two cores, each took 137 s, and 5.5 s with sleeping threads. Alone, sleeping costs a
# factor of about 2.3 (3.6 s against 8.3 s). Tests choose the bounded time. PyTorch reads the variable when it
# is loaded, also in the programs that tests start.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# Two processes run tests (tools/run_tests.py), and the networks are too small to gain from a second thread.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Under nohup and in background jobs, signals are ignored from the start, and every program that a test starts
# would inherit that and wait for ever. Programs do not inherit handlers: with one here they begin as in a
# terminal, while this process still survives a closed terminal.
for number in (signal.SIGHUP, signal.SIGTERM):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, lambda *_: None)
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


STOPPING = (signal.SIGINT, signal.SIGTERM)

# `make check` leaves out what has these marks. Tests get them by what they ask for; others carry them.
FIXTURES = {
    "browser": {"browser", "served_site"},
    "program": {"run_train", "undisturbed", "default_training", "tiny_runs"},
}
MARKS = ("browser", "long", "program")
# Programs that take no time to speak of: finding out a commit or the name of a processor.
QUICK_PROGRAMS = {"git", "grep", "sysctl", "sw_vers"}
started: list[str] = []  # the other programs that the present test has started


def note_program(event: str, arguments: tuple) -> None:
    """Remember a program that is being started."""
    if event == "subprocess.Popen" and Path(os.fsdecode(arguments[0])).name not in QUICK_PROGRAMS:
        started.append(os.fsdecode(arguments[0]))


sys.addaudithook(note_program)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Mark the tests of a browser, and those that train by way of a fixture; put the chosen ones in order."""
    for item in items:
        for mark, fixtures in FIXTURES.items():
            if fixtures.intersection(item.fixturenames):
                item.add_marker(mark)
    yield  # others choose by marks
    items[:] = in_two_halves(items)


def in_two_halves(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return tests in the order for two processes, each of which begins with one half.

    Slow tests are first in both halves, so that quick ones are left to share at the end. Every second file is
    in the second half, in reverse: only one process begins with tests that need the site built.
    """
    slow = [item for item in items if any(item.get_closest_marker(mark) for mark in MARKS)]
    quick = [item for item in items if not any(item.get_closest_marker(mark) for mark in MARKS)]
    files = {path: number for number, path in enumerate(dict.fromkeys(item.path for item in slow))}
    first = [item for item in slow if files[item.path] % 2 == 0]
    second = sorted((item for item in slow if files[item.path] % 2), key=lambda item: -files[item.path])
    between = max(len(items) // 2 - len(first), 0)
    return [*first, *quick[:between], *second, *quick[between:]]


@pytest.fixture(autouse=True)
def _no_program_without_its_mark(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that starts a program and does not say so: it would end up in `make check`."""
    started.clear()
    yield
    marked = any(request.node.get_closest_marker(mark) for mark in MARKS)
    on_simulated_mps = "simulated_mps" in str(request.node.path)  # `make check` runs none of these
    if started and not marked and not on_simulated_mps:
        pytest.fail(f"starts {', '.join(started)}: mark this test with @pytest.mark.program")


@pytest.fixture(autouse=True)
def _signals_as_they_were() -> Iterator[None]:
    """Fail a test that leaves other handlers of signals behind: Ctrl-C would do nothing in later tests."""
    before = {number: signal.getsignal(number) for number in STOPPING}
    yield
    after = {number: signal.getsignal(number) for number in STOPPING}
    for number, handler in before.items():
        signal.signal(number, handler)
    if after != before:
        pytest.fail(f"leaves other handlers of signals: {after}, before: {before}")


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over what stays until the end: the packages and thousands of tests."""
    gc.freeze()
    atexit.register(gc.unfreeze)  # at the end, some packages report what was not collected


class OnSimulatedMPS(pytest.Directory):
    """Tests that need the simulated MPS device, where it is not enabled."""

    def collect(self) -> list:
        """Skip them all, aloud."""
        pytest.skip("needs the simulated MPS device: `make test` makes .venv-sim and runs this folder there")


def pytest_collect_directory(path: Path, parent: pytest.Collector) -> pytest.Directory | None:
    """Leave the tests on the simulated device to runs with `--simulated-mps`."""
    enabled = parent.config.getoption("simulated_mps", False)
    if not enabled and path.parent == ROOT / "tests" and path.name in ("on_simulated_mps", "simulated_mps"):
        return OnSimulatedMPS.from_parent(parent, path=path)
    return None


@contextmanager
def served_folder() -> Iterator[tuple[Path, int]]:
    """Serve a new folder until the end of the block; yield the folder and the port."""
    with (
        tempfile.TemporaryDirectory(prefix="mps-handbook-www-") as folder,
        static_server(Path(folder)) as port,
    ):
        yield Path(folder), port


SERVER = pytest.StashKey()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node) -> None:
    """Where several processes test, let the one that controls them serve the site: it outlives the others."""
    stash = node.config.stash
    if SERVER not in stash:
        server = served_folder()
        stash[SERVER] = server.__enter__()
        node.config.add_cleanup(functools.partial(server.__exit__, None, None, None))
    folder, port = stash[SERVER]
    node.workerinput |= {"served_folder": str(folder), "served_port": port}


@pytest.fixture(scope="session")
def shared_folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a temporary folder that all processes of this test run have in common."""
    folder = tmp_path_factory.getbasetemp()
    return folder.parent if hasattr(request.config, "workerinput") else folder


def made_once(folder: Path, make: Callable[[Path], None]) -> Path:
    """Return `folder`, which the first process that asks makes while others wait. They repeat what failed."""
    finished = folder.with_name(f"{folder.name}.finished")
    with folder.with_name(f"{folder.name}.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not finished.exists():
            shutil.rmtree(folder, ignore_errors=True)
            make(folder)
            finished.touch()
    return folder


@pytest.fixture(scope="session")
def served_site(request: pytest.FixtureRequest) -> Iterator[tuple[Path, str]]:
    """Build both languages once, strictly, for the address at which they are then served.

    The address has a sub-path, as on GitHub Pages, and is the one that the site was built for: the theme's
    instant navigation compares the two. Yields the folder and the address.
    """

    def site(root: Path, port: int) -> tuple[Path, str]:
        address = f"http://127.0.0.1:{port}/handbook/"
        return made_once(root / "handbook", functools.partial(build_site, SITE_URL=address)), address

    given = getattr(request.config, "workerinput", None)
    if given:
        yield site(Path(given["served_folder"]), given["served_port"])
    else:
        with served_folder() as (root, port):
            yield site(root, port)


@pytest.fixture(scope="session")
def default_training(shared_folder: Path) -> Callable[[str], tuple[str, Path]]:
    """Return a function that gives what a system prints and leaves when it trains without any option.

    Each system is trained once in a test run, in a process of its own, as newcomers do.
    """
    from tools.working_copy import environment, working_copy

    def train(system: str, folder: Path) -> None:
        with working_copy(ROOT) as copy:
            command = ["python", f"examples/{system}/train.py"]
            done = subprocess.run(
                command, cwd=copy, env=environment(), capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr
            (run,) = (copy / "runs" / system).iterdir()
            shutil.copytree(run, folder / "runs" / run.name)  # pages show this name
        (folder / "printed.txt").write_text(done.stdout, encoding="utf-8")

    def trained(system: str) -> tuple[str, Path]:
        folder = made_once(shared_folder / f"default_{system}", functools.partial(train, system))
        (run,) = (folder / "runs").iterdir()
        return (folder / "printed.txt").read_text(encoding="utf-8"), run

    return trained


@pytest.fixture(scope="session")
def built_site(served_site: tuple[Path, str]) -> Path:
    """Return the folder of the built site: English at its top, Chinese in zh/."""
    return served_site[0]


@pytest.fixture(scope="session")
def site_url(served_site: tuple[Path, str]) -> str:
    """Return the address of the served English home page, with a slash at the end."""
    return served_site[1]


@pytest.fixture(scope="session")
def browser() -> Iterator[object]:
    """Start headless Chromium: the system's, or Playwright's own. Skips, aloud, where there is none."""
    playwright = pytest.importorskip("playwright.sync_api")
    system = system_browser()
    with playwright.sync_playwright() as driver:
        if system is None and not Path(driver.chromium.executable_path).exists():
            pytest.skip(
                "no Chromium: install Debian's package `chromium`, or run `playwright install chromium`"
            )
        options = [
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--no-first-run",
        ]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            options.append("--no-sandbox")  # Chromium refuses its sandbox to root
        chromium = driver.chromium.launch(executable_path=system, args=options)
        yield chromium
        chromium.close()
