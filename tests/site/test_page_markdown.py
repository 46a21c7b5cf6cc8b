"""Tests of docs/hooks/plain_markdown.py and page_markdown.py: pages as Markdown, and the lists of them."""

import sys
from pathlib import Path

import pytest

from tests.mkdocs_runs import build_site

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs/hooks"))
from plain_markdown import plain_markdown  # noqa: E402


def plain(text: str) -> str:
    return plain_markdown(text, ROOT, {}, lambda target: f"https://a.example/{target}")


def test_html_becomes_markdown() -> None:
    assert plain("# Title { #id }\n\n<!-- x -->[a](b.md){ .c }") == "# Title\n\n[a](https://a.example/b.md)\n"
    table = (
        "<table><thead><tr><th>A</th></tr></thead><tbody><tr><td><code>x|y</code></td></tr></tbody></table>"
    )
    assert plain(table) == "| A |\n|---|\n| `x\\|y` |\n"
    assert plain("<form>no</form>\nError: `<module>` &lt;lambda&gt;") == "Error: `<module>` <lambda>\n"


def test_tabs_and_folds_become_titles() -> None:
    text = '??? note "More"\n    Text.\n\n    === "uv"\n        ```bash\n        uv sync\n        ```\n'
    assert plain(text) == "**More**\n\nText.\n\n**uv**\n\n```bash\nuv sync\n```\n"


def test_code_is_not_touched() -> None:
    code = "```python\nx = \"<a href='b'>\"  # [a](b.md) { .c }\n```\n"
    assert plain(code) == code


@pytest.mark.program
def test_each_language_has_its_files(site: Path) -> None:
    build_site(site / "out", site)
    for place, title in (("", "# Choose the device"), ("zh/", "# 选择设备")):
        folder = site / "out" / place
        page = (folder / "guides/device/index.md").read_text(encoding="utf-8")
        assert page.startswith(title)
        assert 'DEVICE = "mps"' in page
        assert f"{place}guides/device/index.md" in (folder / "llms.txt").read_text(encoding="utf-8")
        assert page in (folder / "llms-full.txt").read_text(encoding="utf-8")
        assert "data-copy-page" in (folder / "guides/device/index.html").read_text(encoding="utf-8")
