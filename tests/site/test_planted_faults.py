"""The promises of the handbook, each with a fault that must be found and named.

The faults are planted in a tiny site, three pages in two languages, with the real mkdocs.yml, hooks, theme
and checks. Without a fault it passes all of them. More faults of these promises are planted elsewhere:

    every shown line ran                         tests/tools/checks/test_executed_lines.py
    code on pages is included, never typed in    tests/tools/checks/test_page_code.py
    English and Chinese pages are equal          tests/tools/checks/test_parity.py
    every address is right, in every element     tests/tools/checks/test_site_addresses.py
"""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.browser.site_pages import page_files, unvisited
from tests.mkdocs_runs import build_site, mkdocs_build
from tools.checks import parity
from tools.checks.page_code import check_pages, rendered_blocks
from tools.checks.sections import all_sections
from tools.working_copy import working_copy

pytestmark = pytest.mark.unmeasured

ROOT = Path(__file__).resolve().parents[2]


def edit(site: Path, file: str, old: str, new: str) -> None:
    """Replace `old`, which must be there once, in a file below docs/."""
    path = site / "docs" / file
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")


def add(site: Path, page: str, text: str) -> None:
    """Add a paragraph to a page in both languages; `{}` becomes the language. The Chinese page is stamped."""
    for language in ("en", "zh"):
        with (site / "docs" / language / page).open("a", encoding="utf-8") as file:
            file.write(f"\n{text.replace('{}', language)}\n")
    assert parity.main(["synced", page], site) == 0


@pytest.fixture
def refusal(site: Path) -> Callable[[], str]:
    """Return a function that builds the site strictly, demands that it fails, and returns what is printed."""

    def attempt() -> str:
        done = mkdocs_build(site.parent / "built", site)
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
        return done.stderr

    return attempt


@pytest.mark.program
def test_a_site_without_a_fault_passes_every_check(site):
    built = site.parent / "built"
    build_site(built, site)
    assert "<table>" in (built / "zh/index.html").read_text(encoding="utf-8")  # the marker became a table
    sections, _ = all_sections(site)
    shown, wrong = check_pages(site, sections)
    assert shown == {"snippets/device.py:pick": {"docs/en/guides/device.md", "docs/zh/guides/device.md"}}
    assert wrong == []
    assert unvisited(page_files(site), built) == []


# ---- The site works ----


@pytest.mark.program
def test_broken_link_or_page_outside_menu_is_refused(site, refusal):
    add(site, "guides/device.md", "[a](nothing.md) [b](#nothing) [c](../index.md#nothing)")
    edit(site, "../mkdocs.yml", "  - Guides:\n      - Choosing the device: guides/device.md\n", "")
    printed = refusal()
    assert 'not included in the "nav" configuration:\n  - en/guides/device.md' in printed
    for link in ("nothing.md", "#nothing", "../index.md#nothing"):
        assert f"Doc file 'en/guides/device.md' contains a link '{link}'" in printed


@pytest.mark.long
@pytest.mark.program
def test_every_download_is_there(site, refusal):
    add(
        site, "guides/device.md", '[a](../downloads/first_run.py) [b](../downloads/b.zip){ download="b.zip" }'
    )
    printed = refusal()
    assert "Doc file 'en/guides/device.md' contains a link '../downloads/b.zip'" in printed
    assert "first_run.py" not in printed


@pytest.mark.long
def test_every_download_is_there_also_for_links_in_html(site, refusal):
    add(
        site,
        "guides/device.md",
        '<a href="../../downloads/first_run.py">a</a> <a href="../../downloads/b.zip">b</a>',
    )
    wrong = re.findall(r"whole site: (.*): leads nowhere: (.*)", refusal())
    assert wrong == [(f"{folder}guides/device/index.html", "../../downloads/b.zip") for folder in ("", "zh/")]


@pytest.mark.long
def test_every_picture_is_there_in_both_languages(site, refusal):
    (site / "docs/assets/images/curve.en.svg").write_text("<svg/>", encoding="utf-8")
    add(site, "index.md", "![](assets/images/curve.{}.svg)")
    assert "Doc file 'zh/index.md' contains a link 'assets/images/curve.zh.svg'" in refusal()


@pytest.mark.program
@pytest.mark.parametrize(
    ("marker", "wrong"),
    [
        ("<!-- table: nothing -->", "there is no table named 'nothing'"),
        *(
            pytest.param(marker, f"'{wrong}': write `<!-- table: NAME -->`", marks=pytest.mark.long)
            for marker, wrong in (
                ("See <!-- table: glossary -->", "<!-- table: glossary -->"),
                ("<!-- table:glossary -->", "<!-- table:glossary -->"),
            )
        ),
    ],
)
def test_every_table_marker_becomes_a_table(site, refusal, marker, wrong):
    add(site, "guides/device.md", marker)
    assert f"en/guides/device.md: {wrong}" in refusal()


@pytest.mark.program
def test_no_page_loads_anything_from_another_host(site, refusal):
    elements = """\
<img src="https://image.example/a.png" alt="">
<script src="https://script.example/a.js"></script>
<link rel="stylesheet" href="https://stylesheet.example/a.css">
<iframe src="https://frame.example/" title="a"></iframe>
<style>@font-face { font-family: a; src: url(https://font.example/a.woff2) }</style>"""
    add(site, "guides/device.md", elements)
    edit(site, "assets/stylesheets/site.css", ":root", "@import url(https://import.example/a.css);\n:root")
    edit(site, "assets/javascripts/site.js", "// Runs", 'fetch("https://fetch.example/")\n// Runs')
    places = dict.fromkeys(("image", "script", "stylesheet", "frame", "font"), "guides/device/index.html")
    places |= {"import": "assets/stylesheets/site.css", "fetch": "assets/javascripts/site.js"}
    lines = refusal().splitlines()
    for host, file in places.items():
        found = [line.split(":")[1] for line in lines if f"loads from another host: https://{host}." in line]
        assert found == [f" {file}", f" zh/{file}"], host


def test_a_browser_test_visits_every_page(site, tmp_path):
    for file in page_files(site):
        (tmp_path / "built" / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "built" / file).touch()
    assert unvisited(page_files(site), tmp_path / "built") == []
    (tmp_path / "built/zh/guides/extra.html").touch()
    (tmp_path / "built/404.html").unlink()
    assert unvisited(page_files(site), tmp_path / "built") == [
        "zh/guides/extra.html: no browser test visits this page",
        "404.html: the browser tests visit this page, but it was not built",
    ]


# ---- A page knows the repository's address, or does without ----

PASSAGES = """<!-- with repository -->
```bash
--8<-- "snippets/get.sh:get"
```
<!-- without repository -->
![](../assets/images/logo.svg)
<!-- end repository -->"""


@pytest.fixture
def with_passages(site) -> Path:
    """Return the root of the tiny project after one page has got a passage for each case."""
    (site / "snippets/get.sh").write_text(
        '# ci: no - network: clones\n# --8<-- [start:get]\ngit clone "$REPO_URL" b\n# --8<-- [end:get]\n'
    )
    add(site, "guides/device.md", PASSAGES)
    return site


@pytest.mark.program
@pytest.mark.long
@pytest.mark.parametrize("address", ["", "https://github.com/you/b"])
def test_pages_and_header_show_the_address_or_do_without(with_passages, address):
    built = with_passages.parent / "built"
    build_site(built, with_passages, REPO_URL=address)
    for folder in ("", "zh/"):
        html = (built / folder / "guides/device/index.html").read_text(encoding="utf-8")
        assert "$REPO_URL" not in html
        shown = rendered_blocks(html)
        assert shown[1:] == ([f"git clone {address} b\n"] if address else [])
        header = html.partition("<header")[2].partition("</header>")[0]
        assert (f'href="{address}"' in header) == bool(address)
        assert ('<a href="https://github.com/you/b/blob/main/snippets/get.sh">' in html) == bool(address)


@pytest.mark.long
def test_open_passage_or_unknown_address_is_refused(with_passages, refusal):
    for language in ("en", "zh"):
        edit(with_passages, f"{language}/guides/device.md", "<!-- end repository -->", "")
    parity.main(["synced", "guides/device.md"], with_passages)
    assert "en/guides/device.md: <!-- without repository --> needs <!-- end repository -->" in refusal()
    for language in ("en", "zh"):
        edit(with_passages, f"{language}/guides/device.md", "<!-- with repository -->", "")
        edit(with_passages, f"{language}/guides/device.md", "<!-- without repository -->", "")
    parity.main(["synced", "guides/device.md"], with_passages)
    assert "en/guides/device.md: $REPO_URL is shown also when it is not known" in refusal()


# ---- The two languages are equals, and the build sees to it ----


@pytest.mark.program
def test_stale_chinese_page_is_refused(site, refusal):
    edit(site, "en/index.md", "Begin with", "Start with")
    assert "docs/zh/index.md: stale: the English page changed" in refusal()


# ---- The same on the real pages ----


@pytest.fixture
def real_site() -> Iterator[Path]:
    """Yield the root of a copy of this project whose pages can be changed."""
    with working_copy(ROOT) as copy:
        (copy / "docs").unlink()
        shutil.copytree(ROOT / "docs", copy / "docs", ignore=shutil.ignore_patterns("__pycache__"))
        add(copy, "guides/device.md", "[a](nothing.md) [b](#nothing)")
        yield copy


@pytest.mark.long
def test_broken_link_fails_the_real_site(real_site, tmp_path):
    done = mkdocs_build(tmp_path / "built", real_site)
    assert done.returncode == 1
    printed = done.stderr
    for link in ("nothing.md", "#nothing"):
        assert f"Doc file 'en/guides/device.md' contains a link '{link}'" in printed
