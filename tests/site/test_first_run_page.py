"""The first-run page: the words of the programs on a Mac, where nothing was recorded, and every system."""

from pathlib import Path

import pytest
import torch

from examples.systems import SYSTEMS
from snippets.device import pick_device

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "docs" / language / "start/first-run.md" for language in ("en", "zh")]


@pytest.mark.parametrize("page", PAGES, ids=["en", "zh"])
def test_the_device_line_of_a_mac(page, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.version, "cuda", None)  # as in the wheels for macOS
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    device, reason = pick_device()
    text = page.read_text(encoding="utf-8")
    assert f"`{device} ({reason})`" in text
    assert f"`computes on: {device}`" in text
    assert 'computes on: {device}")' in (ROOT / "examples/first_run.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=["en", "zh"])
def test_it_offers_every_system_and_leads_to_its_page(page):
    text = page.read_text(encoding="utf-8")
    get, further = text[text.index("{ #get }") : text.index("{ #own }")], text[text.index("{ #next }") :]
    for system in SYSTEMS:
        assert f'(../downloads/{system.name}.zip){{ download="{system.name}.zip" }}' in get
        assert f"(../{system.pages[0]})" in further
