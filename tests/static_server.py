"""A web server for tests."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def static_server(folder: Path) -> Iterator[int]:
    """Serve a folder on this machine until the end of the block; yield the port.

    In a process of its own that coverage does not see (-S): in Python 3.11, of two threads that begin to be
    traced at once one dies, and a page would wait for its answer for ever.
    """
    command = [sys.executable, "-I", "-S", "-u", "-m", "http.server", "0", "--bind", "127.0.0.1"]
    with subprocess.Popen(
        [*command, "--directory", str(folder)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        try:
            yield int(re.search(r" port (\d+) ", server.stdout.readline())[1])
        finally:
            server.terminate()
