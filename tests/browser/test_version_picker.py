"""The three selects of "Which PyTorch for my Mac" in a real browser, on a page that holds only the picker."""

from pathlib import Path

import pytest

from docs.hooks.version_picker import render

ASSETS = Path(__file__).resolve().parents[2] / "docs" / "assets"
PAGE = """<!doctype html><html lang="{language}"><head><meta charset="utf-8">
<title>Picker</title><style>{css}</style></head><body><main>{picker}</main><script>{js}</script></body></html>"""


def page_source(language: str) -> str:
    """Return a page with the picker, its style and its script."""
    css = (ASSETS / "stylesheets" / "version-picker.css").read_text(encoding="utf-8")
    js = (ASSETS / "javascripts" / "version-picker.js").read_text(encoding="utf-8")
    return PAGE.format(language=language, css=css, js=js, picker=render(language))


@pytest.fixture
def picker(browser):
    """Yield a page with the English picker; a script error fails the test."""
    page = browser.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.set_content(page_source("en"))
    yield page
    page.close()
    assert errors == []


def choose(page, **selection: str) -> None:
    for name, value in selection.items():
        page.select_option(f"select[name={name}]", value)


def command(page) -> str:
    return page.inner_text(".version-picker__answer code")


def test_it_starts_with_the_newest_release(picker):
    assert command(picker) == "pip install torch==2.15.0 torchvision==0.29.2"
    assert picker.locator(".version-picker__chosen").count() == 1


@pytest.mark.parametrize(
    ("chip", "macos", "python", "expected", "note"),
    [
        ("arm64", "14", "3.13", "pip install torch==2.14.1 torchvision==0.29.2", "Keep the version numbers"),
        ("arm64", "15", "3.10", "pip install torch==2.14.1 torchvision==0.29.2", "you get 2.15.0"),
        ("arm64", "13", "3.14", "pip install torch==2.8.0 torchvision==0.23.0", "Install Python 3.9 to 3.13"),
        ("x86_64", "26", "3.12", 'pip install torch==2.2.2 torchvision==0.17.2 "numpy<2"', "for Intel"),
    ],
)
def test_a_choice_shows_its_command(picker, chip, macos, python, expected, note):
    choose(picker, chip=chip, macos=macos, python=python)
    assert command(picker) == expected
    assert note in picker.inner_text(".version-picker__notes")
    picker.click("summary")
    assert picker.inner_text(".version-picker__chosen td:nth-child(4)") == expected


def test_without_an_answer_there_is_no_command_to_copy(picker):
    choose(picker, macos="older")
    assert not picker.is_visible(".version-picker__answer pre")
    assert "too old" in picker.inner_text(".version-picker__answer")
    choose(picker, macos="26")
    assert picker.is_visible(".version-picker__answer pre")


def test_the_table_is_folded_up_until_asked_for(picker):
    assert not picker.is_visible(".version-picker table")
    picker.click("summary")
    assert picker.is_visible(".version-picker table")


def test_paper_shows_the_table(picker):
    picker.emulate_media(media="print")
    assert picker.is_visible(".version-picker table")
    assert not picker.is_visible(".version-picker__form")


def test_without_javascript_the_table_answers(browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.set_content(page_source("zh"))
    assert not page.is_visible(".version-picker__form") and not page.is_visible(".version-picker__answer")
    assert page.is_visible("text=pip install torch==2.14.1")
    context.close()
