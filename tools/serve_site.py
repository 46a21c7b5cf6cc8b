"""Build both languages, serve them on 127.0.0.1 and rebuild when a source changes.

    python tools/serve_site.py [--port 8000]

Plain `mkdocs serve` knows one build and so one language; this puts MkDocs' own live-reload server in front
of our two builds. Warnings do not stop it: writing stays pleasant, `make site` and `make test` are strict.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from mkdocs.livereload import LiveReloadServer

from tools.build_site import ROOT, BuildFailed, build

WATCHED = ("docs", "snippets", "examples", "mkdocs.yml")


def serve(port: int, site_dir: Path) -> None:
    """Serve `site_dir` on 127.0.0.1 until interrupted. Raises OSError when the port is taken."""

    def rebuild() -> None:
        try:
            build(site_dir, strict=False, site_url=f"http://127.0.0.1:{port}/", quiet=False)
        except BuildFailed as error:
            print(f"error: {error}", file=sys.stderr)  # keep serving the last good site

    server = LiveReloadServer(builder=rebuild, host="127.0.0.1", port=port, root=str(site_dir))
    for path in WATCHED:
        server.watch(str(ROOT / path))
    server.error_handler = lambda code: (site_dir / "404.html").read_bytes() if code == 404 else None
    rebuild()
    print(f"\nThe handbook is at http://127.0.0.1:{port}/ (中文: http://127.0.0.1:{port}/zh/). Stop: Ctrl-C\n", flush=True)
    try:
        server.serve()
    except KeyboardInterrupt:
        server.shutdown()


def main() -> int:
    """Serve from the command line; return the exit code."""
    parser = argparse.ArgumentParser(description="Serve both languages, live.", allow_abbrev=False)
    parser.add_argument("--port", type=int, default=8000)
    port = parser.parse_args().port
    if not 1 <= port <= 65535:
        parser.error(f"--port {port}: choose a number from 1 to 65535")
    with tempfile.TemporaryDirectory(prefix="mps-handbook-") as folder:
        try:
            serve(port, Path(folder))
        except OSError as error:
            print(f"error: port {port} on 127.0.0.1 cannot be used ({error.strerror}); try: make serve PORT={port + 1}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
