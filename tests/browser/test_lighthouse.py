"""Lighthouse over pages of each kind. Performance is printed, not asserted: it is a timing."""

from pathlib import Path

import pytest

from tests.browser.site_pages import address, page_files
from tools.checks.lighthouse import LighthouseMissing, audit, install

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = (  # one page of each kind
    "",
    "guides/device/",
    "start/which-pytorch/",
    "start/first-run-notebook/",
    "examples/cifar-optimizers/training/",
)


def test_the_sample_is_part_of_the_site():
    pages = {address(file) for file in page_files(ROOT)}
    assert {language + path for language in ("", "zh/") for path in SAMPLE} <= pages


@pytest.mark.long
@pytest.mark.parametrize("form", ["mobile", "desktop"])
@pytest.mark.parametrize("language", ["", "zh/"])
def test_lighthouse_finds_nothing_to_mend(site_url, language, form):
    try:
        install()
    except LighthouseMissing as missing:
        pytest.skip(str(missing))
    reports = [audit(site_url + language + path, form) for path in SAMPLE]
    for report in reports:
        print(report.line())
    for category in ("accessibility", "best-practices", "seo"):
        assert {report.url: report.failed for report in reports if report.scores[category] < 100} == {}
