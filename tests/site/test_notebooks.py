"""Generated notebooks: up to date, equal code in both languages, really executable, rendered as pages."""

import re

import nbformat
import pytest
from bs4 import BeautifulSoup

from tools.build_notebooks import cells_of, execute, out_of_date, pages, read_source, target

pytestmark = pytest.mark.unmeasured

NOTEBOOKS = sorted(pages())


def masked(outputs) -> list[str]:
    """Return what a cell printed, numbers and spaces before them masked, and the kinds of its figures."""
    lines = []
    for output in outputs:
        if output.output_type == "stream":
            lines += re.sub(r" *\d+", "#", output.text).splitlines()
        else:
            lines.append(",".join(sorted(output.data)))
    return lines


def test_there_are_notebooks_and_they_match_their_sources():
    assert NOTEBOOKS
    assert out_of_date() == []


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_code_cells_are_the_same_in_both_languages(name):
    english, chinese = (read_source(pages()[name][language]) for language in ("en", "zh"))
    code = [[cell for cell in cells_of(notebook) if cell[0] == "code"] for notebook in (english, chinese)]
    assert code[0] == code[1]
    assert len(code[0]) > 0
    assert [cell[:2] for cell in cells_of(english)] == [cell[:2] for cell in cells_of(chinese)]


@pytest.mark.program
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long if name == "colab" else []) for name in NOTEBOOKS]
)
def test_notebook_runs_and_prints_what_the_page_shows(name, tmp_path):
    fresh = read_source(pages()[name]["en"])
    execute(fresh, tmp_path)
    committed = nbformat.read(target(fresh, "en"), as_version=4)
    compared = 0
    for cell, shown in zip(fresh.cells, committed.cells, strict=True):
        if cell.cell_type == "code":
            assert not any(output.output_type == "error" for output in shown.outputs)
            assert masked(cell.outputs) == masked(shown.outputs)
            compared += len(masked(cell.outputs))
    assert compared > 5


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebook_is_a_rendered_page(built_site, name, language):
    notebook = read_source(pages()[name][language])
    folder = (
        built_site / ("zh" if language == "zh" else "") / notebook.metadata["page"].removesuffix(".ipynb")
    )
    html = (folder / "index.html").read_text(encoding="utf-8")
    soup = BeautifulSoup(html, "html.parser")
    code_cells = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    shown = [block.get_text().strip("\n") for block in soup.select("article .language-python code")]
    assert shown == code_cells
    ids = [heading["id"] for heading in soup.select("article h1, article h2")]
    assert ids == [
        cell.id for cell in notebook.cells if cell.cell_type == "markdown" and cell.source.startswith("#")
    ]
    assert soup.select_one('nav.md-nav--secondary a[href="#train"]')
    texts = [image["alt"] for image in soup.select("article img")]
    assert texts == notebook.metadata["figures"] and all(texts)
    assert len(html) < 150_000  # JupyterLab's inlined CSS alone would be 574 kB
    assert (folder / f"{folder.name}.ipynb").exists(), "the notebook can be downloaded"
