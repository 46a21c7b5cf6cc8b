"""The lines under code blocks: right words from the record, none for changed text, in the right place."""

import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, SoupStrainer
from material.plugins.search.plugin import Parser
from mkdocs.exceptions import PluginError

from docs.hooks.code_badges import WORDS, Facts, add_badges, add_badges_to_notebook
from tools.checks import executed_record
from tools.checks.markdown_fences import find_fences
from tools.checks.page_code import built_page, code_in_data, notebook_code, pages
from tools.checks.sections import all_sections
from tools.recordings import note
from tools.repository_passages import passages_for, repository_address

pytestmark = pytest.mark.unmeasured

ROOT = Path(__file__).resolve().parents[2]
ONE = "snippets/a.py:one"
FENCE = f'```python\n--8<-- "{ONE}"\n```\n'
VERSIONS = {"python": "3.11", "torch": "2.15.0", "torchvision": "0.29.2"}


@pytest.fixture
def known(tmp_path):
    """Return a function that makes the facts of a small repository with a given record of its one section."""
    (tmp_path / "snippets/shell").mkdir(parents=True)
    (tmp_path / "snippets/a.py").write_text(
        "# --8<-- [start:one]\nx = 1\ny = 2\nz = 3\n# --8<-- [end:one]\n", encoding="utf-8"
    )
    (tmp_path / "docs/data/recorded").mkdir(parents=True)

    def facts(digest="", **record):
        section = all_sections(tmp_path)[0]["snippets/a.py:one"]
        known = {f"{section.key} {digest or section.hash}": {"contexts": ["cpu"]} | record}
        executed_record.write(tmp_path, executed_record.Record(VERSIONS, known))
        return Facts(tmp_path)

    return facts


def added(markdown, facts, language="en", source_url=""):
    """Return the lines that are added under code blocks."""
    lines = add_badges(markdown, facts, language, source_url).splitlines()
    return [line for line in lines if "code-origin" in line]


def searched(line):
    """Return the words of a section around a line that the search sees."""
    parser = Parser()
    parser.feed(f'<h2 id="a">A</h2><p>before</p>{line}<p>after</p>')
    return " ".join(re.sub("<[^>]+>", " ", "".join(parser.data[-1].text)).split())


@pytest.mark.parametrize(
    ("record", "english", "chinese"),
    [
        ({}, ["ran on CPU"], ["已在 CPU 上运行"]),
        (
            {"contexts": ["cpu", "simulated-mps"]},
            ["ran on CPU", "ran on simulated MPS"],
            ["已在 CPU 上运行", "已在模拟 MPS 上运行"],
        ),
        (
            {"contexts": [], "parts": ["cpu", "simulated-mps"]},
            ["ran in parts on CPU and simulated MPS"],
            ["已分别在 CPU 和模拟 MPS 上运行"],
        ),
        (
            {"exceptions": {"cuda-only": 1}},
            ["ran on CPU", "1 line: CUDA only"],
            ["已在 CPU 上运行", "1 行仅限 CUDA"],
        ),
        (
            {"exceptions": {"mps-only": 2}},
            ["ran on CPU", "2 lines: MPS only"],
            ["已在 CPU 上运行", "2 行仅限 MPS"],
        ),
        ({"contexts": [], "parts": [], "exceptions": {"macos-only": 3}}, ["macOS only"], ["仅限 macOS"]),
    ],
)
def test_badges_say_what_was_measured(known, record, english, chinese):
    for language, expected in (("en", english), ("zh", chinese)):
        (line,) = added(FENCE, known(**record), language)
        badges = BeautifulSoup(line, "html.parser").select(".code-badge")
        assert [badge.get_text() for badge in badges] == expected
        assert "<code>snippets/a.py</code>" in line
        assert searched(line).strip() == "before after"


def test_changed_text_has_neither_badge_nor_versions(known):
    facts = known("0" * 16)
    (line,) = added(FENCE, facts)
    assert "code-badge" not in line
    assert facts.verified([ONE], WORDS["en"]) == ""


def test_the_versions_of_a_page(known):
    english = known().verified([ONE], WORDS["en"])
    assert english == "Verified with Python 3.11, PyTorch 2.15.0, torchvision 0.29.2"
    assert known().verified([ONE], WORDS["zh"]) == "已用 Python 3.11、PyTorch 2.15.0、torchvision 0.29.2 验证"
    assert known().verified([], WORDS["en"]) == ""


def test_one_changed_section_takes_the_versions_away(known, tmp_path):
    facts = known()
    (tmp_path / "snippets/b.py").write_text(
        "# --8<-- [start:new]\nx = 1\n# --8<-- [end:new]\n", encoding="utf-8"
    )
    facts = Facts(facts.root)
    assert facts.verified([ONE, "snippets/b.py:new"], WORDS["en"]) == ""


def test_source_links(known):
    (line,) = added(FENCE, known(), source_url="https://host.example/blob/main/")
    assert '<a href="https://host.example/blob/main/snippets/a.py"><code>snippets/a.py</code></a>' in line


@pytest.mark.parametrize(
    ("mark", "expected"),
    [
        ("# ci: run", "run by the tests"),
        ("# ci: no - macOS only: Homebrew", "macOS only"),
        ("# ci: no - network: clones", "needs the network"),
        ("#!/usr/bin/env bash\n# ci: no - interactive: waits for Ctrl-C", "to run by hand"),
    ],
)
def test_shell_badges(known, tmp_path, mark, expected):
    path = tmp_path / "snippets/shell/go.sh"
    path.write_text(f"{mark}\n# --8<-- [start:go]\necho\n# --8<-- [end:go]\n", encoding="utf-8")
    (line,) = added('```bash\n--8<-- "snippets/shell/go.sh:go"\n```\n', known())
    assert f">{expected}</span>" in line
    path.write_text("echo\n", encoding="utf-8")
    with pytest.raises(PluginError, match=r"go\.sh"):
        added('```bash\n--8<-- "snippets/shell/go.sh:go"\n```\n', known())


def test_recorded_output_names_command_machine_and_date(known, tmp_path):
    (tmp_path / "docs/data/recorded/run.txt").write_text("x\n", encoding="utf-8")
    (tmp_path / "docs/data/recorded/run.yaml").write_text(
        "command: python a_b.py\ncompare: exact\n", encoding="utf-8"
    )
    machine = {"system": "Linux x86-64", "cpu_cores": 2, "versions": {"python": "3.11", "torch": "2.15.0"}}
    note(tmp_path, "run", "2026-11-20", machine)
    (line,) = added('```text\n--8<-- "docs/data/recorded/run.txt"\n```\n', known())
    assert "output of <code>python a&#95;b.py</code>, recorded on 2026-11-20" in line
    assert "2026-11-20: Linux x86-64, 2 CPU cores, Python 3.11, PyTorch 2.15.0<" in line


def test_lines_keep_the_place_of_their_fence(known):
    page = f'=== "Tab"\n\n    {FENCE.replace(chr(10), chr(10) + "    ").rstrip()}\n    Text after.\n\n{FENCE}'
    lines = add_badges(page, known(), "en", "").splitlines()
    places = [line.partition("<")[0] for line in lines if "code-origin" in line]
    assert places == ["    ", ""]
    assert len(find_fences("\n".join(lines))[0]) == 2


@pytest.mark.parametrize(("digest", "badges"), [("", 1), ("0" * 16, 0)])
def test_notebook_pages(known, digest, badges):
    cell = '<div class="language-python highlight"><pre><code>x = 1\ny = 2\nz = 3\n</code></pre></div>'
    output = '<div class="notebook-output"><div class="highlight"><pre><code>x</code></pre></div></div>'
    html = f'<div class="notebook">{cell}{output}</div>'
    html, verified = add_badges_to_notebook(html, known(digest), WORDS["en"], "")
    soup = BeautifulSoup(html, "html.parser")
    assert len(soup.select("p > .code-origin")) == 1
    assert len(soup.select(".notebook > p > .code-origin > .code-badge")) == badges
    assert bool(verified) == bool(badges)
    assert soup.select_one(".notebook-output .code-origin") is None


def test_built_pages_carry_a_line_under_each_block(built_site):
    compared = 0
    for page in pages(ROOT):
        text = page.read_text(encoding="utf-8")
        if page.suffix == ".md":
            shown = passages_for(text, repository_address())
            expected = sum(fence.include is not None for fence in find_fences(shown)[0])
            if page.parent.name == "error-messages":  # its hook shows the code that the messages name
                expected += sum(Path(name).stem == page.stem for name, _ in code_in_data(ROOT))
        else:
            expected = len(notebook_code(text))
        html = built_page(page, ROOT, built_site).read_text(encoding="utf-8")
        parsed = BeautifulSoup(html, "html.parser", parse_only=SoupStrainer(["p", "pre"]))
        lines = parsed.select("p > .code-origin")
        assert len(lines) == expected, page
        assert all(line.find_previous("pre") for line in lines)
        compared += expected
    assert compared > 0
