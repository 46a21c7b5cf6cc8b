"""The filter of the claims in a real browser, on a page that holds only them; and the page as it is built."""

import re
from functools import cache
from pathlib import Path

import pytest
from axe_playwright_python.base import AXE_SCRIPT

from docs.hooks.claims import claims, render
from tools.checks.claims import TOPICS

ASSETS = Path(__file__).resolve().parents[2] / "docs" / "assets"
PAGE = """<!doctype html><html lang="{language}"><head><meta charset="utf-8"><title>Claims</title>
<style>{css}</style></head><body class="md-typeset"><main>{parts}</main><script>{js}</script></body></html>"""
ADDRESS = "https://handbook.example/facts/claims/"
CLAIMS = {claim["id"]: (topic, claim) for topic, entries in claims().items() for claim in entries}


@cache
def page_source(language: str) -> str:
    """Return a page with the claims, their style and their script; only headings are HTML."""
    css = (ASSETS / "stylesheets" / "claims.css").read_text(encoding="utf-8")
    js = (ASSETS / "javascripts" / "claim-filter.js").read_text(encoding="utf-8")
    parts = re.sub(r"^## (.*) \{ #([\w-]+) .*$", r'<h2 id="\2">\1</h2>', render(language), flags=re.M)
    return PAGE.format(language=language, css=css, js=js, parts=parts)


@pytest.fixture
def opened(browser):
    """Yield a function that opens the page at an address; a script error fails the test."""
    page = browser.new_page(viewport={"width": 390, "height": 844})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    sources = {language: page_source(language) for language in ("en", "zh")}

    def serve(route):
        language = "zh" if "/zh" in route.request.url else "en"
        route.fulfill(body=sources[language], content_type="text/html; charset=utf-8")

    page.route("**/*", serve)

    def give(place=""):
        page.goto(ADDRESS + place)
        return page

    yield give
    page.close()
    assert errors == []


def shown(page) -> list[str]:
    """Return the ids of the claims that a reader sees."""
    return page.locator(".claim").evaluate_all(
        "claims => claims.filter(claim => claim.checkVisibility()).map(claim => claim.id)"
    )


def of(topic="", verdict=""):
    """Return the ids of the claims of a topic and of a verdict, in their order."""
    return [
        name
        for name, (place, claim) in CLAIMS.items()
        if topic in ("", place) and verdict in ("", claim["verdict"])
    ]


def test_everything_is_there_before_anything_is_chosen(opened):
    page = opened()
    assert page.get_by_label("Words of the claim").is_visible()
    assert shown(page) == list(CLAIMS)
    assert page.inner_text("[role=status]") == ""


def test_topic_and_verdict(opened):
    page = opened()
    page.get_by_label("Topic").select_option(TOPICS["device"]["en"])
    assert shown(page) == of("device")
    assert page.locator("h2:visible").all_inner_texts() == [TOPICS["device"]["en"]]
    page.get_by_label("Verdict").select_option("holds")
    assert shown(page) == of("device", "holds")
    expected = f"{len(of('device', 'holds'))} of {len(CLAIMS)} claims"
    assert page.inner_text("[role=status]") == expected
    page.get_by_role("button", name="Show all").click()
    page.wait_for_function("document.querySelector('[role=status]').textContent === ''")
    assert shown(page) == list(CLAIMS)


def test_words_in_any_case_and_order(opened):
    page = opened()
    field = page.get_by_label("Words of the claim")
    field.fill("ok KMP_duplicate_lib")
    assert "kmp-duplicate-lib-ok" in shown(page) and len(shown(page)) < 5
    field.fill("nosuchwords")
    assert shown(page) == [] and page.locator("h2:visible").count() == 0
    assert page.inner_text("[role=status]") == f"0 of {len(CLAIMS)} claims"


def test_the_address_keeps_the_choice(opened):
    page = opened("?topic=device&verdict=wrong&q=cpu")
    assert page.get_by_label("Words of the claim").input_value() == "cpu"
    assert shown(page) and set(shown(page)) <= set(of("device", "wrong"))
    page.get_by_label("Words of the claim").fill("")
    page.get_by_label("Words of the claim").press("Tab")
    assert page.url.endswith("?topic=device&verdict=wrong")
    assert shown(opened("?topic=nothing&verdict=%22")) == list(CLAIMS)


def test_a_link_to_a_claim_shows_it(opened):
    page = opened("?topic=device")
    page.evaluate("location.hash = '#mkl-num-threads'")
    page.locator("#mkl-num-threads").wait_for(state="visible")
    assert shown(page) == list(CLAIMS)
    assert "mkl-num-threads" in shown(opened("?topic=device#mkl-num-threads"))


def test_chinese_words(opened):
    page = opened("zh/")
    page.get_by_label("说法里的词").fill("性能核")
    assert "omp-num-threads" in shown(page) and len(shown(page)) < 5
    assert page.inner_text("[role=status]") == f"{len(CLAIMS)} 条说法中的 {len(shown(page))} 条"


def test_without_javascript_everything_is_readable(browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.route("**/*", lambda route: route.fulfill(body=page_source("en"), content_type="text/html"))
    page.goto(ADDRESS)
    assert not page.locator(".claim-filter").is_visible()
    assert page.locator(".claim:visible").count() == len(CLAIMS)
    context.close()


@pytest.mark.parametrize(("place", "scheme"), [("", "dark"), ("zh/", "light")])
def test_the_built_page_with_a_claim_open(browser, served_site, place, scheme):
    page = browser.new_page(color_scheme=scheme, viewport={"width": 390, "height": 844})
    page.goto(f"{served_site[1]}{place}facts/claims/#kmp-duplicate-lib-ok")
    assert page.locator(".claim").count() == len(CLAIMS)
    page.locator("#kmp-duplicate-lib-ok summary").click()
    page.evaluate(AXE_SCRIPT)
    options = "{resultTypes: ['violations'], preload: false}"
    for part in (".claim-filter", "#kmp-duplicate-lib-ok", "#is-built", "#fallback-variable"):
        found = page.evaluate(f"axe.run('{part}', {options}).then(all => all.violations)")
        assert [violation["id"] for violation in found] == []
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.close()
