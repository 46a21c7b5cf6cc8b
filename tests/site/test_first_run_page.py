"""The first-run page has every system."""

from pathlib import Path

import pytest

from examples.systems import SYSTEMS

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "docs" / language / "start/first-run.md" for language in ("en", "zh")]


@pytest.mark.parametrize("page", PAGES, ids=["en", "zh"])
def test_it_offers_every_system_and_leads_to_its_page(page):
    text = page.read_text(encoding="utf-8")
    get, further = text[text.index("{ #get }") : text.index("{ #own }")], text[text.index("{ #next }") :]
    for system in SYSTEMS:
        assert f'(../downloads/{system.name}.zip){{ download="{system.name}.zip" }}' in get
        assert f"(../{system.pages[0]})" in further
