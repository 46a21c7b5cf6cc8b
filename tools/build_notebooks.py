"""Generate the notebooks of the site from Markdown texts that include tested sections.

    python -m tools.build_notebooks      (`make notebooks`) write docs/<language>/<page>.ipynb, with outputs

A source is docs/data/notebooks/<name>.<language>.md. Its front matter names the page, describes it and its
figures; its Python fences are include lines, so the code cells are the tested code. Both languages have the
same code cells, which run once; both notebooks carry those outputs.
"""

import re
import sys
import tempfile
from pathlib import Path

import jupytext
import nbformat
import yaml
from nbclient import NotebookClient
from nbformat import NotebookNode

from tools.checks.sections import all_sections

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "docs" / "data" / "notebooks"
INCLUDE = re.compile(r'^--8<-- "([^"]+)"$', re.MULTILINE)
HEADING = re.compile(r"^(#+ .*?) *\{ #([a-z][a-z0-9-]*) \}$", re.MULTILINE)
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def read_source(source: Path) -> NotebookNode:
    """Return the notebook of one source, without outputs.

    A Markdown cell starts at each heading and takes the heading's id as its cell id, which is what links
    point to. Raises ValueError when an included section does not exist.
    """
    sections, _ = all_sections(ROOT)
    _, front_matter, body = source.read_text(encoding="utf-8").split("---\n", 2)

    def included(match: re.Match[str]) -> str:
        if match[1] not in sections:
            raise ValueError(f"{source.name}: there is no section {match[1]!r}")
        return sections[match[1]].text

    body = HEADING.sub(
        lambda match: f"\n\n{match[0]}", INCLUDE.sub(included, body)
    )  # two blank lines: new cell
    notebook = jupytext.reads(body, fmt="md")
    notebook.cells = [cell for cell in notebook.cells if cell.source.strip()]
    for number, cell in enumerate(notebook.cells):
        heading = HEADING.search(cell.source) if cell.cell_type == "markdown" else None
        cell.id = heading[2] if heading else f"cell-{number}"
        cell.metadata = {}
        cell.source = HEADING.sub(r"\1", cell.source)
    about = yaml.safe_load(front_matter)
    shown = {key: about[key] for key in ("page", "description", "figures")}
    notebook.metadata = {"kernelspec": KERNEL, **shown}
    return notebook


def pages() -> dict[str, dict[str, Path]]:
    """Return for each notebook its source file per language: {"first-run": {"en": ..., "zh": ...}}."""
    found: dict[str, dict[str, Path]] = {}
    for source in sorted(SOURCES.glob("*.md")):
        name, language = source.stem.rsplit(".", 1)
        found.setdefault(name, {})[language] = source
    return found


def target(notebook: NotebookNode, language: str) -> Path:
    """Return where the page of a notebook stands."""
    return ROOT / "docs" / language / notebook.metadata["page"]


def execute(notebook: NotebookNode, folder: Path) -> None:
    """Run every cell in `folder`, storing outputs in the notebook. Raises CellExecutionError.

    The project is there as `mps-handbook`, where readers have unpacked or cloned it.
    """
    (folder / "mps-handbook").symlink_to(ROOT)
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=300, coalesce_streams=True, resources=resources).execute()
    for cell in notebook.cells:
        cell.metadata = {}  # nbclient's time stamps would make every run a change


def cells_of(notebook: NotebookNode) -> list[tuple[str, str, str]]:
    """Return what a reader wrote or would run: kind, id and text of every cell, no outputs."""
    return [(cell.cell_type, cell.id, cell.source) for cell in notebook.cells]


def out_of_date() -> list[str]:
    """Return a line for each committed notebook whose cells differ from its source."""
    defects = []
    for sources in pages().values():
        for language, source in sources.items():
            fresh = read_source(source)
            path = target(fresh, language)
            if not path.exists() or cells_of(nbformat.read(path, as_version=4)) != cells_of(fresh):
                defects.append(f"{path.relative_to(ROOT)} does not match {source.name}; run: make notebooks")
    return defects


def write_all() -> list[Path]:
    """Run and write every notebook; return the files."""
    written = []
    for sources in pages().values():
        notebooks = {language: read_source(source) for language, source in sources.items()}
        first = next(iter(notebooks.values()))
        with tempfile.TemporaryDirectory() as folder:  # takes what the cells write
            execute(first, Path(folder))
        outputs = [cell.outputs for cell in first.cells if cell.cell_type == "code"]
        for language, notebook in notebooks.items():
            for number, cell in enumerate(cell for cell in notebook.cells if cell.cell_type == "code"):
                cell.outputs, cell.execution_count = outputs[number], number + 1
            path = target(notebook, language)
            nbformat.write(notebook, path)
            written.append(path)
    return written


def main() -> int:
    """Generate all notebooks; return the exit code."""
    for path in write_all():
        print(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
