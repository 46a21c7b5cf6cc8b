"""What several folders of tests need: the built site, a static server, a browser."""

import functools
import http.server
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.lighthouse import system_browser

ROOT = Path(__file__).resolve().parent.parent

# Threads of GNU OpenMP spin while they wait. That is fast on idle cores and ruinous on busy ones: of two
# trainings at once on two cores, each took 137 s, and 5.5 s with sleeping threads. Alone, sleeping costs a
# factor of about 2.3 (3.6 s against 8.3 s). Tests choose the bounded time. PyTorch reads the variable when it
# is loaded, also in the programs that tests start.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
# Two processes run tests (tools/run_tests.py), and the networks are too small to gain from a second thread.
os.environ.setdefault("OMP_NUM_THREADS", "1")


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serves files like any static host, without a log."""

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="session")
def served_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """Build both languages once, strictly, for the address at which they are then served.

    The address has a sub-path, as on GitHub Pages, and is the one that the site was built for: the theme's
    instant navigation compares the two. Yields the folder and the address.
    """
    from tools.build_site import build

    document_root = tmp_path_factory.mktemp("www")
    handler = functools.partial(QuietHandler, directory=str(document_root))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        address = f"http://127.0.0.1:{server.server_port}/handbook/"
        build(document_root / "handbook", strict=True, site_url=address)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield document_root / "handbook", address
        server.shutdown()


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
