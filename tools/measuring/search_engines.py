"""Which search engine finds most: the same queries, sections and labels for each, in Node, not in a browser.

    python -m tools.measuring.search_engines minisearch
    python -m tools.measuring.search_engines pagefind --packages FOLDER/node_modules
    python -m tools.measuring.search_engines own --site OTHER/site

It asks the search of site/; build it before, and have Node. Pagefind comes from npm (`npm install pagefind`).
`own` was this site's own engine: OTHER is a copy of the repository at commit 1b41a60, the last that had it.
The result goes to docs/data/results/search_engines.yaml.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tools.measuring.result_entries import RESULTS, origin, store
from tools.measuring.search import FOLDERS, ROOT, SETS, by_kind, place
from tools.read_yaml import read_yaml

SCRIPT = Path(__file__).with_suffix(".mjs")
WORKERS = ("minisearch", "own")  # the engines that a site's worker may hold
DATA = RESULTS / "search_engines.yaml"
HEADER = "# Measured by tools/measuring/search_engines.py: right sections first, and among the first 3.\n"


def found(engine: str, site: Path, language: str, queries: Sequence[str], packages: str) -> list[list[str]]:
    """Return the addresses that an engine finds for each query, the best first."""
    kind = "worker" if engine in WORKERS else engine
    command = ["node", str(SCRIPT), kind, str(site / FOLDERS[language]), packages]
    question = json.dumps({"language": language, "queries": queries})
    answer = subprocess.run(command, input=question, capture_output=True, text=True, check=True)
    return json.loads(answer.stdout)


def measured(engine: str, site: Path, name: str, packages: str) -> dict[str, Any]:
    """Return an engine's shares with a set of queries, by language."""
    result = {}
    for language, entries in read_yaml(ROOT / f"docs/data/search/{name}.yaml").items():
        answers = found(engine, site, language, [entry["query"] for entry in entries], packages)
        places = [place(links, entry["pages"], "") for links, entry in zip(answers, entries, strict=True)]
        result[language] = by_kind(entries, places)
    return result


def main(argv: Sequence[str] | None = None) -> int:
    """Ask an engine all queries, print the shares, and keep them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0], allow_abbrev=False)
    parser.add_argument("engine", choices=(*WORKERS, "pagefind"))
    parser.add_argument("--site", type=Path, default=ROOT / "site")
    parser.add_argument("--packages", default="", help="the folder node_modules that holds Pagefind")
    parser.add_argument("--file", type=Path, default=DATA)
    options = parser.parse_args(argv)
    sets = {name: measured(options.engine, options.site, name, options.packages) for name in SETS}
    command = f"python -m tools.measuring.search_engines {options.engine}"
    entry = {"engine": options.engine} | origin(command, ()) | sets
    for name in SETS:
        print(name, {language: (each["first"], each["first_3"]) for language, each in entry[name].items()})
    store(entry, options.file, HEADER, same=("engine",))
    return 0


if __name__ == "__main__":
    sys.exit(main())
