"""The built site in real Chromium: search, language switch, foreign hosts, errors, accessibility."""

import re
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe

PAGES = (
    "",
    "start/which-pytorch/",
    "start/nightly-builds/",
    "start/check-setup/",
    "start/first-run/",
    "start/first-run-notebook/",
    "start/which-device/",
    "start/mps-or-mlx/",
    "guides/device/",
    "guides/data-loading/",
    "guides/memory/",
    "guides/precision/",
    "guides/compile/",
    "guides/batch-size/",
    "guides/missing-operators/",
    "guides/numerics/",
    "guides/checkpoints/",
    "guides/long-runs/",
    "guides/benchmarking/",
    "guides/profiling/",
    "guides/testing-without-a-mac/",
    "examples/cifar-optimizers/",
    "examples/cifar-optimizers/training/",
    "examples/indicator-transformer/",
    "examples/indicator-transformer/training/",
    "reference/operators/",
    "project/how-it-is-tested/",
    "project/coverage/",
    "project/glossary/",
    "project/changes/",
)
CHINESE_WORDS = (
    "混合精度", "精度", "累积", "学习率", "批大小", "大小", "设备", "统一内存", "优化器", "权重衰减",
    "标签噪声", "检查点", "数据增强", "芯片", "训练", "安装", "回退", "随机种子", "mps", "is_available",
    '"torch.backends.mps"',
)  # fmt: skip
ENGLISH_WORDS = (
    "learning rate", "label noise", "weight decay", "optimizer", "unified memory", "mps", "is_available",
    '"torch.backends.mps"', "accelerator", "Rosetta", "checkpoint",
)  # fmt: skip
COMPUTER, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
# Pages have no sound or film, which axe would wait for.
AXE = {"resultTypes": ["violations"], "preload": False}


@pytest.fixture
def page(browser):
    """Open a new page in a fresh profile that remembers what went wrong in it."""
    context = browser.new_context(viewport=COMPUTER)
    page = context.new_page()
    page.problems = []
    page.on("console", lambda message: message.type == "error" and page.problems.append(message.text))
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on("requestfailed", lambda request: page.problems.append(f"failed: {request.url}"))
    page.hosts = set()
    page.on("request", lambda request: page.hosts.add(urlsplit(request.url).netloc))
    yield page
    context.close()


def search(page, words: str) -> int:
    """Type `words` into the search as a reader would; return the number of pages found."""
    field = page.locator(".md-search__input")
    field.click()
    field.fill("")
    field.press_sequentially(words)
    field.press("End")  # an input method ends with a key, which the theme waits for; Playwright's does not
    answer = "document.querySelector('.md-search-result__meta').textContent"
    page.wait_for_function(f"/[0-9]|No |没有/.test({answer})")
    page.wait_for_timeout(250)
    return page.locator(".md-search-result__item").count()


def complaints(page, url: str, language: str) -> list[str]:
    """Visit a page as a computer shows it, then as narrow as a phone; return what is wrong there."""
    page.problems.clear()
    page.hosts.clear()
    page.set_viewport_size(COMPUTER)
    page.goto(url, wait_until="load")
    violations = Axe().run(page, options=AXE).response["violations"]
    page.wait_for_load_state("networkidle")  # meanwhile axe was busy
    wrong = list(page.problems)
    if page.hosts != {urlsplit(url).netloc}:
        wrong.append(f"loads from {', '.join(sorted(page.hosts))}")
    if page.locator("html").get_attribute("lang") != (language or "en/").rstrip("/"):
        wrong.append("is in another language")
    if page.locator("article h1").count() != 1:
        wrong.append("has not exactly one h1")
    for rule in violations:
        wrong += [f"{rule['id']}: {node['html'][:120]}" for node in rule["nodes"][:3]]
    for size in (COMPUTER, PHONE):
        page.set_viewport_size(size)
        width = page.evaluate("document.documentElement.scrollWidth")
        if width > size["width"]:
            wrong.append(f"is {width} pixels wide on a screen of {size['width']}")
    return wrong


def test_a_page_with_every_defect_gets_every_complaint(page, site_url):
    defects = """<!doctype html><html lang="fr"><title>A</title><script>missing()</script>
    <img src="http://127.0.0.1:9/a.png"><div style="width: 1300px">x</div></html>"""
    page.route(f"{site_url}bad/", lambda route: route.fulfill(body=defects, content_type="text/html"))
    found = "\n".join(complaints(page, f"{site_url}bad/", ""))
    assert "missing is not defined" in found
    assert "failed: http://127.0.0.1:9/a.png" in found
    assert re.search(r"^loads from .*\b127\.0\.0\.1:9$", found, re.MULTILINE)
    assert "is in another language" in found
    assert "has not exactly one h1" in found
    assert "image-alt: <img" in found
    for width in (1280, 390):
        assert re.search(rf"^is 13\d\d pixels wide on a screen of {width}$", found, re.MULTILINE)


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("language", "scheme"),
    [
        ("", "dark"),  # each language and each scheme in the short tests, every pair in the long ones
        ("zh/", "light"),
        pytest.param("", "light", marks=pytest.mark.long),
        pytest.param("zh/", "dark", marks=pytest.mark.long),
    ],
)
def test_pages_load_whole_fit_a_phone_and_are_accessible(page, site_url, language, scheme):
    """No error, no foreign host, no sideways scrolling, nothing that axe objects to: one visit for all."""
    page.emulate_media(color_scheme=scheme)
    found = {path: complaints(page, site_url + language + path, language) for path in PAGES}
    assert {path: wrong for path, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize(("language", "words"), [("zh/", CHINESE_WORDS), ("", ENGLISH_WORDS)])
def test_search_finds_words_and_api_names(page, site_url, language, words):
    page.goto(site_url + language, wait_until="networkidle")
    nothing_found = [word for word in words if search(page, word) == 0]
    assert nothing_found == []
    links = page.locator(".md-search-result__link").evaluate_all("links => links.map(link => link.href)")
    assert links
    assert all(link.startswith(site_url + language) for link in links)
    if not language:
        assert not any(link.startswith(site_url + "zh/") for link in links)


def test_search_finds_nothing_where_there_is_nothing(page, site_url):
    page.goto(site_url, wait_until="networkidle")
    assert search(page, "zzzznotaword") == 0


def test_language_switch_stays_on_page_and_section(page, site_url):
    page.goto(f"{site_url}guides/device/", wait_until="networkidle")
    section = page.locator("article h2").nth(1).get_attribute("id")
    page.goto(f"{site_url}guides/device/#{section}", wait_until="networkidle")
    page.locator("[data-language-switch]").click()
    page.wait_for_url(f"{site_url}zh/guides/device/#{section}")
    assert page.locator("html").get_attribute("lang") == "zh"
    page.locator("[data-language-switch]").click()
    page.wait_for_url(f"{site_url}guides/device/#{section}")
    assert page.locator("html").get_attribute("lang") == "en"


@pytest.mark.parametrize(("language", "other"), [("", "zh/"), ("zh/", "")])
def test_language_switch_is_right_after_instant_navigation(page, site_url, language, other):
    page.goto(site_url + language, wait_until="networkidle")
    page.evaluate("window.stillTheSameDocument = true")
    page.locator("a[href$='guides/device/']").first.click()
    page.wait_for_url(f"{site_url}{language}guides/device/")
    page.wait_for_timeout(300)
    assert page.evaluate("window.stillTheSameDocument") is True  # otherwise this test proves nothing
    page.locator("[data-language-switch]").click()
    page.wait_for_url(f"{site_url}{other}guides/device/")
    assert page.locator("html").get_attribute("lang") == ("en" if language else "zh")


def test_colour_scheme_is_shared_by_both_languages(page, site_url):
    page.goto(site_url, wait_until="networkidle")
    page.locator("label[for=__palette_1]").click()
    page.locator("label[for=__palette_2]").click()
    assert page.locator("body").get_attribute("data-md-color-scheme") == "slate"
    page.goto(f"{site_url}zh/", wait_until="networkidle")
    assert page.locator("body").get_attribute("data-md-color-scheme") == "slate"


def test_the_404_page_speaks_both_languages_and_loads_from_any_address(page, site_url):
    page.goto(f"{site_url}404.html", wait_until="networkidle")
    assert page.problems == []
    text = page.locator("article").inner_text()
    assert "Page not found" in text
    assert "找不到页面" in text
    assert page.locator("article a").evaluate_all("links => links.map(link => link.href)") == [
        site_url,
        f"{site_url}zh/",
    ]
    assert page.evaluate("getComputedStyle(document.querySelector('.md-header')).position") == "sticky"
