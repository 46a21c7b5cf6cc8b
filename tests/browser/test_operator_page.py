"""The page of operators as it was built: rows at once, on a phone too, and accessible with an answer open."""

import pytest
from axe_playwright_python.base import AXE_SCRIPT

ERROR = "NotImplementedError: The operator 'aten::{}' is not currently implemented for the MPS device."
SIZES = {"phone": (390, 844), "computer": (1440, 900)}
FIRST_ROW = """() => [...document.querySelectorAll("[data-operators] :is(tbody tr, li)")]
    .find(row => row.checkVisibility()).getBoundingClientRect().bottom"""


@pytest.fixture(params=SIZES)
def screen(browser, request):
    """Yield a page of one size, without its errors lost."""
    width, height = SIZES[request.param]
    page = browser.new_page(viewport={"width": width, "height": height})
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    yield page
    page.close()
    assert page.errors == []


@pytest.mark.parametrize("language", ["", "zh/"])
@pytest.mark.parametrize(
    "name", ["linalg_qr.out", "linalg_eig", "grid_sampler_3d", "max_pool3d_with_indices"]
)
def test_the_first_row_is_on_the_first_screen(screen, served_site, language, name):
    screen.goto(f"{served_site[1]}{language}reference/operators/")
    screen.locator("#operator-filter").fill(ERROR.format(name))
    screen.wait_for_selector(".operator-answer li")
    assert screen.evaluate(FIRST_ROW) < screen.viewport_size["height"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("typed", ["linalg_eig", "linalg_qrr", "torchvision::nms", "nn.Conv2d"])
def test_nothing_is_objected_to_with_an_answer_open(browser, served_site, scheme, typed):
    page = browser.new_page(color_scheme=scheme, viewport={"width": 390, "height": 844})
    page.goto(f"{served_site[1]}reference/operators/")
    page.locator("#operator-filter").fill(typed)
    page.wait_for_selector(".operator-answer p, .operator-answer li")
    page.evaluate(AXE_SCRIPT)
    options = "{resultTypes: ['violations'], preload: false}"
    found = page.evaluate(f"axe.run('.operator-filter', {options}).then(all => all.violations)")
    assert [violation["id"] for violation in found] == []
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.close()


def test_links_of_an_answer_lead_to_the_replacement(screen, served_site):
    """Also after instant navigation, which replaces the content of the page alone."""
    screen.goto(f"{served_site[1]}reference/wrong-results/")
    screen.evaluate("document.querySelector('a[href$=\"/operators/\"]').click()")
    screen.wait_for_selector("#operator-filter")
    screen.locator("#operator-filter").fill("nn.MultiMarginLoss")
    screen.locator(".operator-answer a").first.click()
    screen.wait_for_url("**/guides/missing-operators/#multi-margin-loss")
    screen.locator("#multi-margin-loss").wait_for(state="visible")
