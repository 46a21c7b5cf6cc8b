"""Build both languages, serve them on 127.0.0.1 and rebuild when a source changes.

    python -m tools.serve_site [--port 8000]

Plain `mkdocs serve` knows one build and so one language; this puts MkDocs' own live-reload server in front
of our two builds. Warnings do not stop it: writing stays pleasant, `make site` and `make test` are strict.
"""

import argparse
import signal
import sys
import tempfile
from pathlib import Path

from mkdocs.livereload import LiveReloadServer

from tools.build_site import ROOT, BuildFailed, build

WATCHED = ("docs", "snippets", "examples", "mkdocs.yml")


def rebuild(site_dir: Path, address: str) -> None:
    """Build leniently; when that fails, say so and leave the last good pages in place."""
    try:
        build(site_dir, strict=False, site_url=address)
    except BuildFailed as error:
        print(f"error: {error}", file=sys.stderr)


def serve(port: int, site_dir: Path) -> None:
    """Serve `site_dir` on 127.0.0.1 until interrupted. Raises OSError when the port is taken."""
    address = f"http://127.0.0.1:{port}/"
    server = LiveReloadServer(
        builder=lambda: rebuild(site_dir, address), host="127.0.0.1", port=port, root=str(site_dir)
    )
    server.server_bind()  # before the build, so that a taken port is known at once
    server.server_bind = lambda: None
    for path in WATCHED:
        server.watch(str(ROOT / path))
    server.error_handler = lambda code: (site_dir / "404.html").read_bytes() if code == 404 else None
    rebuild(site_dir, address)
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
