"""The built site in real Chromium: search, language switch, foreign hosts, errors, accessibility."""

import gzip
import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.base import AXE_SCRIPT

from docs.hooks.moved_pages import read_moved
from docs.hooks.site_search import other_words
from tests.browser.site_pages import address, page_files, unvisited
from tools.downloads import page_address
from tools.read_yaml import read_yaml

ROOT = Path(__file__).resolve().parents[2]
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
# In a block of code, tokens of one kind have one colour. The first of each kind stays (axe judges no single
# characters, so one with more of them); the others become plain text, which saves axe half of its work.
# Pages have no sound or film, which axe would wait for.
AXE = """() => {
  for (const block of document.querySelectorAll("pre code")) {
    const seen = new Set()
    for (const token of block.querySelectorAll("span")) {
      let kind = ""
      for (let e = token; e !== block; e = e.parentElement)
        kind += `${e.localName} ${e.className} ${e.getAttribute("style")} `
      if (seen.has(kind) && !token.childElementCount) token.replaceWith(...token.childNodes)
      else if (token.textContent.trim().length > 1) seen.add(kind)
    }
    block.normalize()
  }
  return axe.run({resultTypes: ["violations"], preload: false})
}"""


def visits() -> Iterator[object]:
    """Yield each page with each colour scheme.

    The short tests visit each page once: in one of its two languages, which have the same elements, and each
    language in one scheme.
    """
    for file in page_files(ROOT):
        chinese = file.startswith("zh/")
        english_file = file.removeprefix("zh/")
        odd = zlib.crc32(english_file.encode()) % 2 == 1
        for scheme in ("light", "dark"):
            short = scheme == ("light" if chinese else "dark") and (odd == chinese or file == "404.html")
            marks = [] if short else [pytest.mark.long]
            yield pytest.param(file, scheme, marks=marks, id=f"{address(file)}-{scheme}")


VISITS = list(visits())


def watched_page(context):
    """Open a page that remembers what went wrong in it and which hosts it asked."""
    page = context.new_page()
    page.problems, page.hosts = [], set()
    page.on("console", lambda message: message.type == "error" and page.problems.append(message.text))
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on("requestfailed", lambda request: page.problems.append(f"failed: {request.url}"))
    page.on("request", lambda request: page.hosts.add(urlsplit(request.url).netloc))
    return page


@pytest.fixture
def page(browser):
    """Open a new page in a fresh profile."""
    context = browser.new_context(viewport=COMPUTER)
    yield watched_page(context)
    context.close()


@pytest.fixture(scope="module")
def visitor(browser):
    """Open one page for all visits, which change nothing that the next page could notice."""
    context = browser.new_context(viewport=COMPUTER)
    yield watched_page(context)
    context.close()


@pytest.fixture(scope="module")
def search_page(browser, site_url):
    """Return a function that gives the home page of a language, with an empty search that is ready."""
    pages = {}

    def give(language):
        if language not in pages:
            pages[language] = watched_page(browser.new_context(viewport=COMPUTER))
            pages[language].goto(site_url + language)
            pages[language].locator(".md-search__input").click()
        pages[language].locator(".md-search__input").fill("")
        nothing = "() => !document.querySelector('.md-search-result__item')"
        pages[language].wait_for_function(nothing)  # of the search before is left
        return pages[language]

    yield give
    for page in pages.values():
        page.context.close()


def search(page, words: str) -> int:
    """Type `words` into the search as a reader would; return the number of sections found."""
    field = page.locator(".md-search__input")
    field.click()
    field.fill("")
    field.press_sequentially(words)
    field.press("End")  # an input method ends with a key, which the theme waits for; Playwright's does not
    answer = "document.querySelector('.md-search-result__meta').textContent"
    page.wait_for_function(f"() => /[0-9]|No |没有/.test({answer})")
    page.wait_for_timeout(250)
    return page.locator(".md-search-result__item").count()


def complaints(page, url: str, language: str) -> list[str]:
    """Visit a page as a computer shows it, then as narrow as a phone; return what is wrong there."""
    page.goto("about:blank")  # ends whatever the page before still does
    page.problems.clear()
    page.hosts.clear()
    page.set_viewport_size(COMPUTER)
    page.goto(url, wait_until="load")
    page.evaluate("document.fonts.ready.then(() => {})")
    page.evaluate(AXE_SCRIPT)
    violations = page.evaluate(AXE)["violations"]
    too_wide = []
    for size in (COMPUTER, PHONE):
        page.set_viewport_size(size)
        width = page.evaluate("document.documentElement.scrollWidth")
        if width > size["width"]:
            too_wide.append(f"is {width} pixels wide on a screen of {size['width']}")
    page.wait_for_load_state("networkidle")  # late requests; meanwhile most of its half second has passed
    wrong = list(page.problems)
    if page.hosts != {urlsplit(url).netloc}:
        wrong.append(f"loads from {', '.join(sorted(page.hosts))}")
    if page.locator("html").get_attribute("lang") != language:
        wrong.append("is in another language")
    if page.locator("article h1").count() != 1:
        wrong.append("has not exactly one h1")
    for rule in violations:
        wrong += [f"{rule['id']}: {node['html'][:120]}" for node in rule["nodes"][:3]]
    return wrong + too_wide


def test_a_page_with_every_defect_gets_every_complaint(page, site_url):
    token = '<span class="n" style="color: #ddd">{}</span>'
    defects = f"""<!doctype html><html lang="fr"><title>A</title><script>missing()</script>
    <script>addEventListener("load", () => fetch("http://127.0.0.1:9/late"))</script>
    <img src="http://127.0.0.1:9/a.png"><div style="width: 1300px">x</div>
    <pre><code>{token.format("(")} {token.format("one")} {token.format("two")}</code></pre></html>"""
    page.route(f"{site_url}bad/", lambda route: route.fulfill(body=defects, content_type="text/html"))
    found = "\n".join(complaints(page, f"{site_url}bad/", "en"))
    assert "missing is not defined" in found
    assert "failed: http://127.0.0.1:9/a.png" in found
    assert "failed: http://127.0.0.1:9/late" in found
    assert re.search(r"^loads from .*\b127\.0\.0\.1:9$", found, re.MULTILINE)
    assert "is in another language" in found
    assert "has not exactly one h1" in found
    assert "image-alt: <img" in found
    assert found.count("color-contrast: <span") == 1  # of equal tokens one
    for width in (1280, 390):
        assert re.search(rf"^is 13\d\d pixels wide on a screen of {width}$", found, re.MULTILINE)


def test_every_page_of_the_built_site_is_visited(built_site):
    assert unvisited((visit.values[0] for visit in VISITS), built_site) == []


@pytest.mark.parametrize(("file", "scheme"), VISITS)
def test_page_loads_fits_a_phone_and_is_accessible(visitor, site_url, file, scheme):
    """No error, no foreign host, no sideways scrolling, nothing that axe objects to: one visit for all."""
    visitor.emulate_media(color_scheme=scheme)
    assert complaints(visitor, site_url + address(file), "zh" if file.startswith("zh/") else "en") == []


def test_short_visits_cover_every_page_in_one_language():
    short = [visit.values for visit in VISITS if not visit.marks]
    assert {file.removeprefix("zh/") for file, _ in short} == {
        file.removeprefix("zh/") for file in page_files(ROOT)
    }
    assert len(short) == len({file for file, _ in short})
    assert {(file.startswith("zh/"), scheme) for file, scheme in short} == {(True, "light"), (False, "dark")}


@pytest.mark.parametrize(("language", "words"), [("zh/", CHINESE_WORDS), ("", ENGLISH_WORDS)])
def test_search_finds_words_and_api_names(page, site_url, language, words):
    page.goto(site_url + language)
    nothing_found = [word for word in words if search(page, word) == 0]
    assert nothing_found == []
    links = page.locator(".md-search-result__link").evaluate_all("links => links.map(link => link.href)")
    assert links
    assert all(link.startswith(site_url + language) for link in links)
    if not language:
        assert not any(link.startswith(site_url + "zh/") for link in links)


@pytest.mark.parametrize(
    ("language", "words", "expected"),
    [
        ("", "An attempt has been made to start a new process before the", "guides/data-loading/"),
        ("", "accuracy worse on mps than cpu", "guides/numerics/"),
        ("", "GradScaler mps", "guides/precision/"),
        ("", "OMP: Error #15: Initializing libomp.dylib, but found", "guides/openmp/"),
        ("", "No module named 'triton'", "guides/cuda-only-packages/"),
        (
            "",
            "Placeholder storage has not been allocated on MPS device!",
            "reference/error-messages/devices/",
        ),
        ("", "training time electricity cost", "guides/time-and-cost/"),
        ("zh/", "训练要多久 电费", "guides/time-and-cost/"),
        ("zh/", "Invalid buffer size: 19.38 GiB", "reference/error-messages/memory/"),
        ("zh/", "mps 结果和 cpu 不一样", "guides/numerics/"),
        ("zh/", "Abort trap: 6", "guides/openmp/"),
        ("zh/", "KMP_DUPLICATE_LIB_OK", "guides/openmp/"),
        ("zh/", "flash_attn 安装 Mac", "guides/cuda-only-packages/"),
        ("zh/", "DataLoader 卡住 num_workers", "guides/data-loading/"),
        ("", "watermrak ratoi", "guides/memory/"),  # two letters swapped, twice
        ("", "vaffeinate", "guides/long-runs/"),  # a wrong first letter
        ("zh/", "断点须训", "guides/checkpoints/"),  # a wrong character
        ("zh/", "性能分西", "guides/profiling/"),  # the last one, with a single neighbour
        ("", "macbook air m2 16gb gradient accumulation", "guides/batch-size/"),  # the machine counts little
        (
            "",
            "which laptop for a student",
            "facts/faq/#which-mac",
        ),  # words.yaml: no page says student
        ("zh/", "数据集放在 U 盘", "facts/faq/#external-disk"),
        ("", "OOM", "facts/out-of-memory/"),  # ranking.yaml: what is meant, not what is written
        ("zh/", "爆显存了怎么办", "facts/out-of-memory/"),
        (
            "",
            "what could possibly make my loss become nan overnight",
            "guides/numerics/",
        ),  # not every word occurs
    ],
)
def test_pasted_words_find_the_page_that_answers(search_page, site_url, language, words, expected):
    """Among the first five. Evidence and bookkeeping are not among the results at all."""
    page = search_page(language)
    page.locator(".md-search__input").fill(words)  # as from a menu: an input event, and no key
    page.locator(".md-search-result__item").first.wait_for()
    page.wait_for_timeout(250)
    links = page.locator(".md-search-result__link").evaluate_all("links => links.map(link => link.href)")
    links = [re.sub(r"[?][^#]*", "", link) for link in links]  # without the words to mark
    pages = list(dict.fromkeys(link.split("#")[0] for link in links))
    assert site_url + language + expected in (links if "#" in expected else pages)[:5]
    assert not any(
        re.search("#(evidence|claims)$|/project/(changes|glossary|coverage)/", link) for link in links
    )


def test_words_are_marked_and_characters_of_code_stay_whole(page, site_url):
    page.goto(site_url)
    assert search(page, "amp lt gt aten") > 0
    results = page.locator(".md-search-result__list")
    assert results.locator("mark", has_text="aten").count() > 0
    assert re.findall(r"\b(?:amp|lt|gt);", results.text_content()) == []


def test_code_in_results_touches_the_full_stop_behind_it(page, site_url):
    page.goto(site_url)
    assert search(page, "MPS backend out of memory") > 0
    titles = page.locator(".md-search-result__list h1").all_inner_texts()
    assert any("MPS backend out of memory: what now?" in title for title in titles)


def open_results() -> Iterator[object]:
    """Yield languages, words to ask, schemes and screens; the short tests see one of the two per language."""
    for language, words in (("", "why is memory growing"), ("zh/", "内存一直涨 mps")):
        for scheme in ("light", "dark"):
            for size in (COMPUTER, PHONE):
                short = (scheme, size) == (("light", COMPUTER) if language else ("dark", PHONE))
                name = f"{language}{scheme}-{size['width']}"
                marks = () if short else pytest.mark.long
                yield pytest.param(language, words, scheme, size, marks=marks, id=name)


@pytest.mark.parametrize(("language", "words", "scheme", "size"), list(open_results()))
def test_open_results_are_accessible(page, site_url, language, words, scheme, size):
    page.set_viewport_size(size)
    page.emulate_media(color_scheme=scheme)
    page.goto(site_url + language)
    if size == PHONE:
        page.locator("label.md-header__button[for=__search]").click()
    assert search(page, words) > 0
    page.evaluate(AXE_SCRIPT)
    assert [rule["id"] for rule in page.evaluate(AXE)["violations"]] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]


@pytest.mark.parametrize("locale", ["en", "zh"])
def test_other_words_belong_to_sections_that_exist(built_site, locale):
    words = read_yaml(ROOT / "docs/data/search/words.yaml")
    sections = json.loads(
        (built_site / {"en": "", "zh": "zh"}[locale] / "search/sections.json").read_text(encoding="utf-8")
    )
    there = {
        f"{page}#{anchor}" if anchor else page
        for page, rows in sections["docs"].items()
        for anchor, *_ in rows
    }
    assert other_words(words, locale).keys() - there == set()


@pytest.mark.parametrize("language", ["", "zh/"])
def test_first_search_loads_little(page, site_url, built_site, language):
    """At most 260 kB, compressed. Before, nothing but the theme's empty index is loaded."""
    loaded = []
    page.on("request", lambda request: loaded.append(request.url.removeprefix(site_url)))
    page.goto(site_url + language, wait_until="networkidle")
    assert f"{language}search/search_index.json" in loaded
    before = set(loaded)
    assert search(page, "memory") > 0
    asked = [address for address in loaded if address not in before]
    assert asked.count(f"{language}search/sections.json") == 1
    assert sum(len(gzip.compress((built_site / address).read_bytes())) for address in asked) <= 260_000


@pytest.mark.parametrize(("language", "words"), [("", "zzzznotaword"), ("zh/", "内存")])
def test_results_end_with_where_to_ask(page, site_url, language, words):
    page.goto(site_url + language)
    search(page, words)
    link = page.locator(".search-ask a")
    assert link.is_visible()
    assert link.get_attribute("href") == f"{site_url}{language}start/check-setup/#ask"


def test_an_address_can_bring_its_query(page, site_url):
    page.goto(f"{site_url}guides/memory/?q=watermark+ratio")
    page.locator(".md-search-result__item").first.wait_for()
    assert page.locator(".md-search__input").input_value() == "watermark ratio"


def test_a_result_scrolls_to_the_variant_asked_for(page, site_url):
    """It stands in a fold of its message."""
    page.goto(
        f"{site_url}reference/error-messages/memory/?h=tried+allocate+256+bytes+shared+pool#out-of-memory"
    )
    variant = page.locator("#out-of-memory ~ details", has_text="256 bytes on shared pool").first
    page.wait_for_function("fold => fold.open", arg=variant.element_handle())
    page.wait_for_timeout(500)
    spot = variant.locator("li, p, pre, code", has_text="256 bytes on shared pool").last.bounding_box()
    assert 0 < spot["y"] < COMPUTER["height"]


@pytest.mark.parametrize("language", ["", "zh/"])
def test_search_finds_numbers(page, site_url, language):
    page.goto(site_url + language)
    assert [digit for digit in "0123456789" if search(page, f"torch {digit}") == 0] == []
    assert page.problems == []


def test_search_finds_nothing_where_there_is_nothing(page, site_url):
    page.goto(site_url)
    assert search(page, "zzzznotaword") == 0


def test_language_switch_stays_on_page_and_section(page, site_url):
    page.goto(f"{site_url}guides/device/")
    section = page.locator("article h2").nth(1).get_attribute("id")
    page.goto(f"{site_url}guides/device/#{section}")
    page.locator("[data-language-switch]").click()
    page.wait_for_url(f"{site_url}zh/guides/device/#{section}")
    assert page.locator("html").get_attribute("lang") == "zh"
    page.locator("[data-language-switch]").click()
    page.wait_for_url(f"{site_url}guides/device/#{section}")
    assert page.locator("html").get_attribute("lang") == "en"


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("gone", [True, False])
@pytest.mark.parametrize("most", [2, pytest.param(1000, marks=pytest.mark.long)])
def test_old_addresses_lead_to_the_section(page, site_url, language, gone, most):
    """Of a page that is gone, and of one that a section has left; test_moved_pages.py looks at all places."""
    moved = [(place, sections) for place, sections in read_moved(ROOT).items() if ("" in sections) == gone]
    for place, sections in moved[-most:]:
        old, new = next((old, new) for old, new in sections.items() if old and "#" in new)
        target, _, section = new.partition("#")
        page.goto(f"{page_address(site_url, language, place)}#{old}")
        page.wait_for_url(f"{page_address(site_url, language, target)}#{section}")
        page.locator(f"[id='{section}']").wait_for(state="attached")


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
    page.goto(site_url)
    page.locator("label[for=__palette_1]").click()
    page.locator("label[for=__palette_2]").click()
    assert page.locator("body").get_attribute("data-md-color-scheme") == "slate"
    page.goto(f"{site_url}zh/")
    assert page.locator("body").get_attribute("data-md-color-scheme") == "slate"


def test_404_page_is_bilingual_and_loads_anywhere(page, site_url):
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


CONTRAST = """button => {
  const light = colour => {
    const [r, g, b] = colour.match(/[0-9.]+/g).map(part => part / 255)
      .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const icon = light(getComputedStyle(button, "::after").backgroundColor)
  const code = light(getComputedStyle(button.closest(".highlight").querySelector("code")).backgroundColor)
  return (Math.max(icon, code) + 0.05) / (Math.min(icon, code) + 0.05)
}"""
COVERED = """button => {
  const code = button.closest(".highlight").querySelector("code"), range = document.createRange()
  range.selectNodeContents(code)
  const own = button.getBoundingClientRect(), top = own.top + 4, bottom = own.bottom - 4
  return [...range.getClientRects()].some(line => line.width &&
    line.bottom > top && line.top < bottom && line.right > own.left && line.left < own.right)
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_copy_buttons_are_seen_and_cover_no_code(page, site_url, scheme):
    page.set_viewport_size(PHONE)
    page.emulate_media(color_scheme=scheme)
    page.goto(f"{site_url}guides/checkpoints/")
    buttons = page.locator(".md-code__button:visible")
    buttons.first.wait_for()
    assert all(button.evaluate(CONTRAST) >= 3 for button in buttons.all())
    assert not any(button.evaluate(COVERED) for button in buttons.all())


def test_a_block_is_copied_with_what_it_needs(page, site_url):
    page.context.grant_permissions(
        ["clipboard-read", "clipboard-write"], origin=site_url.rpartition("/handbook")[0]
    )
    page.goto(f"{site_url}guides/checkpoints/")
    line = page.locator(".code-origin[data-copy]:visible").first
    block = line.locator("xpath=../preceding-sibling::*[1]")
    block.locator(".md-code__button").click()
    page.wait_for_function(
        "line => navigator.clipboard.readText().then(text => text === line)",
        arg=line.get_attribute("data-copy"),
    )
    shown = block.locator("code").inner_text()
    assert shown not in ("", line.get_attribute("data-copy"))
    assert page.locator(".highlight:has(+ p > .code-origin--part) .md-code__button:visible").count() == 0


def test_paper_has_whole_tables_and_addresses_of_other_hosts(page, site_url):
    page.set_viewport_size({"width": 720, "height": 1000})  # A4 within its margins
    page.goto(f"{site_url}start/which-pytorch/")
    page.wait_for_selector(".md-typeset__scrollwrap", state="attached")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    shown = "getComputedStyle(a, '::after').content.includes('http')"
    addresses = page.eval_on_selector_all(
        ".md-content a[href]", f"links => links.filter(a => {shown}).map(a => a.href)"
    )
    assert addresses and not any(address.startswith(site_url) for address in addresses)
    assert page.evaluate("document.documentElement.scrollWidth") <= 720


def test_a_link_to_a_folded_section_opens_it(page, site_url):
    page.goto(f"{site_url}guides/memory/")
    fold = page.locator(".folded-section:has(#evidence)")
    assert not fold.evaluate("fold => fold.open")
    page.evaluate("location.hash = 'evidence'")
    page.wait_for_function("fold => fold.open", arg=fold.element_handle())
    page.goto("about:blank")
    page.goto(f"{site_url}zh/guides/memory/#evidence")
    page.wait_for_function("() => document.querySelector('.folded-section:has(#evidence)').open")
