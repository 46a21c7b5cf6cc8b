"""Figures in prose: a page writes `{{ plans.closed }}`, and docs/data/figures/plans.yaml says what that is.

Each name stands for an expression over docs/data in Jinja's language, so that the two languages and a result
cannot disagree:

    closed: (results.floorplan_quality | one(name="default")).random.closed | percent
    parameters: computed.plans.parameters.nodes | count
    loss: recorded.plans | find("^done +loss ([0-9.]+)")

`results.NAME` is docs/data/results/NAME.yaml or .json, `recorded.NAME` the text of a recorded output; filters
are those of tools/expressions.py. What a program computes, such as the size of a network, is in
docs/data/computed, which its test compares with it. Under `set`, a file has further names: expressions that
its figures use, and each of those after it.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tools.expressions import FAILURES, compiled, environment
from tools.read_yaml import read_yaml

LANGUAGE = environment()
DATA = Path(__file__).resolve().parents[1] / "docs" / "data"
FIGURE = re.compile(r"\{\{ *(?P<name>[\w.]+) *\}\}")
LIKE_A_FIGURE = re.compile(r"(?<!\$)\{\{[^{}\n]*\}\}")  # `${{ … }}` belongs to GitHub's workflows


class FigureError(ValueError):
    """A figure is unknown, its expression fails or its file cannot be read; the message names it."""


READERS: dict[str, Callable[[Path], Any]] = {  # of a recording, which has two files, the output is read
    ".txt": lambda file: file.read_text(encoding="utf-8"),
    ".yaml": read_yaml,
    ".json": lambda file: json.loads(file.read_text(encoding="utf-8")),
}


class Files(Mapping[str, Any]):
    """The files of a folder by their names, each read once, when it is asked for; folders likewise.

    Raises FigureError, which names the file, where one is no YAML or JSON.
    """

    def __init__(self, folder: Path, name: str = "docs/data") -> None:
        self.folder, self.name = folder, name
        self.known: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self.known:
            self.known[name] = self._content(name)
        return self.known[name]

    def _content(self, name: str) -> Any:
        if (folder := self.folder / name).is_dir():
            return Files(folder, f"{self.name}/{name}")
        for ending, read in READERS.items():
            if (file := self.folder / f"{name}{ending}").is_file():
                try:
                    return read(file)
                except (yaml.YAMLError, json.JSONDecodeError) as error:
                    raise FigureError(f"{self.name}/{file.name}: {' '.join(str(error).split())}") from error
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (path.stem for path in sorted(self.folder.iterdir()))

    def __len__(self) -> int:
        return len(list(self.folder.iterdir()))


def values(content: Any, files: Files, where: str) -> dict[str, Any]:
    """Return the value of each figure of a file. Raises FigureError for an expression that fails."""
    if not isinstance(content, dict):
        raise FigureError(f"{where}: write `name: expression` in each line")
    found: dict[str, Any] = {}
    further = content.get("set", {})
    for name, expression in (further | content).items():
        if name == "set":
            continue
        try:
            function, needed = compiled(LANGUAGE, expression)
            value = function({word: found[word] if word in further else files[word] for word in needed})
            str(value)  # raises the error that names what is unknown
            found[name] = list(value) if isinstance(value, Iterator) else value  # `map` can be read only once
            if name in content and (found[name] is None or isinstance(found[name], list | dict)):
                raise ValueError(f"{found[name]} is no text")
        except FAILURES as error:
            raise FigureError(f"{where}: {name}: {expression}: {error}") from error
    return {name: value for name, value in found.items() if name in content}


@cache
def figures(data: Path = DATA) -> dict[str, str]:
    """Return the text of every figure by `group.name`. Raises FigureError for an expression that fails."""
    files = Files(data)
    return {
        f"{group}.{name}": str(value)
        for group, content in files["figures"].items()
        for name, value in values(content, files, f"docs/data/figures/{group}.yaml").items()
    }


def with_figures(markdown: str, data: Path = DATA) -> str:
    """Return the text of a page with its figures. Raises FigureError for one that is unknown."""

    def text(match: re.Match[str]) -> str:
        name = FIGURE.fullmatch(match[0])
        known = figures(data)
        if name is None or name["name"] not in known:
            raise FigureError(
                f"{match[0]} is no figure: write it as group.name and add the name "
                "to docs/data/figures/group.yaml"
            )
        return known[name["name"]]

    return LIKE_A_FIGURE.sub(text, markdown)
