"""Audit pages with Lighthouse in the system's Chromium.

    python -m tools.checks.lighthouse http://127.0.0.1:8000/ [URL ...]

Lighthouse is a Node program. It is installed once with npm into .cache/lighthouse (about 100 MB); Node and
Chromium have to be there. Performance depends on the machine and its load; the other scores do not.
"""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".cache" / "lighthouse"
VERSION = "12.8.2"  # 13 needs Node 22.19
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless=new --no-first-run --disable-background-networking --disable-component-update --disable-sync"
)


class LighthouseMissing(RuntimeError):
    """Lighthouse cannot run here; the message says what is missing."""


@dataclass(frozen=True)
class Audit:
    """Scores from 0 to 100 by category, transferred bytes, and the audits that cost points."""

    url: str
    form: str  # "mobile" or "desktop"
    scores: dict[str, int]
    bytes: int
    failed: list[str]

    def line(self) -> str:
        """Return the audit as one line."""
        scores = " ".join(f"{name} {score}" for name, score in self.scores.items())
        failed = f" ({', '.join(self.failed)})" if self.failed else ""
        return f"{self.form:<8}{scores}  {self.bytes / 1024:.0f} KiB  {self.url}{failed}"


def system_browser() -> str | None:
    """Return the path of the system's Chromium, None where there is none."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


def install() -> tuple[Path, str]:
    """Install Lighthouse unless it is there; return its program and a browser. Raises LighthouseMissing."""
    program = FOLDER / "node_modules" / "lighthouse" / "cli" / "index.js"
    if not shutil.which("node") or not shutil.which("npm"):
        raise LighthouseMissing("Lighthouse needs Node and npm")
    browser = system_browser()
    if browser is None:
        raise LighthouseMissing("Lighthouse needs Chromium")
    if not program.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", f"lighthouse@{VERSION}"]
        done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False)
        if done.returncode:
            raise LighthouseMissing(
                f"npm could not install Lighthouse: {done.stderr.strip().splitlines()[-1]}"
            )
    return program, browser


def audit(url: str, form: str) -> Audit:
    """Audit one page as a phone ("mobile") or a computer ("desktop") sees it. Raises LighthouseMissing."""
    program, browser = install()
    sandbox = " --no-sandbox" if hasattr(os, "geteuid") and os.geteuid() == 0 else ""
    command = ["node", str(program), url, "--quiet", "--output=json", f"--chrome-flags={FLAGS}{sandbox}"]
    command += ["--preset=desktop"] if form == "desktop" else []
    done = subprocess.run(command, env=os.environ | {"CHROME_PATH": browser}, capture_output=True, check=True)
    report = json.loads(done.stdout)
    failed = [
        reference["id"]
        for name, category in report["categories"].items()
        if name != "performance"
        for reference in category["auditRefs"]
        if reference["weight"]
        and (report["audits"][reference["id"]]["score"] or 0) < 1
        and report["audits"][reference["id"]]["scoreDisplayMode"]
        not in ("notApplicable", "manual", "informative")
    ]
    scores = {name: round(category["score"] * 100) for name, category in report["categories"].items()}
    return Audit(url, form, scores, report["audits"]["total-byte-weight"]["numericValue"], failed)


def main() -> int:
    """Audit the pages named on the command line; return the exit code."""
    if len(sys.argv) < 2 or not all(url.startswith("http://127.0.0.1") for url in sys.argv[1:]):
        print("error: name the pages to audit, each beginning with http://127.0.0.1", file=sys.stderr)
        return 2
    try:
        for url in sys.argv[1:]:
            for form in ("mobile", "desktop"):
                print(audit(url, form).line(), flush=True)
    except LighthouseMissing as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
