"""Lighthouse over pages of each kind. Performance is printed, not asserted: it is a timing."""

import pytest

from tools.lighthouse import LighthouseMissing, audit, install

PAGES = (
    "",
    "guides/device/",
    "start/which-pytorch/",
    "start/first-run-notebook/",
    "examples/cifar-optimizers/training/",
)


@pytest.mark.long
@pytest.mark.parametrize("form", ["mobile", "desktop"])
@pytest.mark.parametrize("language", ["", "zh/"])
def test_lighthouse_finds_nothing_to_mend(site_url, language, form):
    try:
        install()
    except LighthouseMissing as missing:
        pytest.skip(str(missing))
    reports = [audit(site_url + language + path, form) for path in PAGES]
    for report in reports:
        print(report.line())
    for category in ("accessibility", "best-practices", "seo"):
        assert {report.url: report.failed for report in reports if report.scores[category] < 100} == {}
