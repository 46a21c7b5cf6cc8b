"""Build both languages, serve them on 127.0.0.1 and rebuild when a source changes.

    python -m tools.serve_site [--port 8000]

Plain `mkdocs serve` knows one build and so one language; this puts MkDocs' own live-reload server in front
of our two builds. Warnings do not stop it: writing stays pleasant, `make site` and `make test` are strict.
"""

import argparse
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from mkdocs.livereload import LiveReloadServer

from tools.build_site import ROOT, BuildFailed, build

WATCHED = ("docs", "snippets", "examples", "mkdocs.yml")


def rebuild(server: LiveReloadServer, folder: Path, address: str) -> None:
    """Build leniently into a new place in `folder` and serve that; when it fails, go on with the last."""
    place = Path(tempfile.mkdtemp(dir=folder))
    try:
        build(place, strict=False, site_url=address)
    except BuildFailed as error:
        shutil.rmtree(place)
        print(f"error: {error}; the pages of before are still served", file=sys.stderr)
    else:
        before, server.root = server.root, str(place)
        shutil.rmtree(before)


def not_found(server: LiveReloadServer, code: int) -> bytes | None:
    """Return our page for an address that leads nowhere; None until one was built."""
    page = Path(server.root, "404.html")
    return page.read_bytes() if code == 404 and page.exists() else None


def serve(port: int, folder: Path) -> None:
    """Serve builds made in `folder` on 127.0.0.1 until interrupted. Raises OSError when the port is taken."""
    address = f"http://127.0.0.1:{port}/"
    server = LiveReloadServer(
        builder=lambda: rebuild(server, folder, address),
        host="127.0.0.1",
        port=port,
        root=tempfile.mkdtemp(dir=folder),
    )
    server.server_bind()  # before the build, so that a taken port is known at once
    server.server_bind = lambda: None
    for path in WATCHED:
        server.watch(str(ROOT / path))
    server.error_handler = lambda code: not_found(server, code)
    rebuild(server, folder, address)
    print(f"\nThe handbook is at {address} (中文: {address}zh/). Stop: Ctrl-C\n", flush=True)
    try:
        server.serve()
    finally:
        server.shutdown()


def main() -> int:
    """Serve from the command line; return the exit code."""
    parser = argparse.ArgumentParser(description="Serve both languages, live.", allow_abbrev=False)
    parser.add_argument("--port", type=int, default=8000, help="1024 to 65535 (default: 8000)")
    port = parser.parse_args().port
    if not 1024 <= port <= 65535:
        parser.error(f"--port {port}: choose a number from 1024 to 65535")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # end as at Ctrl-C: the folder goes away
    with tempfile.TemporaryDirectory(prefix="mps-handbook-") as folder:
        try:
            serve(port, Path(folder))
        except KeyboardInterrupt:
            print("stopped")
        except OSError as error:
            print(
                f"error: port {port} cannot be used: {error.strerror}; try PORT={port + 1}",
                file=sys.stderr,
            )
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
