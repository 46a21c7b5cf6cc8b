"""What the first-run page says about a Mac, where nothing was recorded: the words of the programs."""

from pathlib import Path

import pytest
import torch

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
