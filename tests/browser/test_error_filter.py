"""The field above the error messages in a real browser, on a page that holds only the field and the list."""

import re
from pathlib import Path

import pytest
from axe_playwright_python.base import AXE_SCRIPT

from docs.hooks.error_messages import contents, field, topics

ASSETS = Path(__file__).resolve().parents[2] / "docs" / "assets"
PAGE = """<!doctype html><html lang="{language}"><head><meta charset="utf-8"><title>Errors</title>
<style>:root {{ --md-default-bg-color: #fff; --handbook-surface: #eee }} {css}</style></head>
<body class="md-typeset"><main>{parts}</main><script>{js}</script></body></html>"""
ADDRESS = "https://handbook.example/reference/error-messages/"
TRACEBACK = """Traceback (most recent call last):
  File "~/projects/net/train.py", line 214, in <module>
    trainer.fit(model, loader)
  File "/opt/homebrew/lib/python3.12/site-packages/torch/nn/modules/module.py", line 1511, in _call_impl
    return forward_call(*args, **kwargs)
  File "~/projects/net/model.py", line 61, in forward
    hidden = self.encoder(batch.to(self.device))
{}"""
MESSAGES = {message["id"]: message for topic in topics().values() for message in topic["messages"]}
PASTED = (  # a wording of each, by its place: 0 is that of the heading
    ("out-of-memory", 0), ("out-of-memory", 1), ("invalid-buffer-size", 0), ("float64", 0), ("float8", 0),
    ("not-currently-implemented", 0), ("fall-back-to-cpu", 0), ("placeholder-storage", 0), ("same-device", 0),
    ("input-type-and-weight-type", 1), ("same-dtype-half-and-float", 2), ("worker-killed-by-signal", 1),
    ("cannot-pickle-lambda", 0), ("deserialize-cuda", 0), ("total-bytes-of-ndarray", 1), ("omp-error-15", 0),
    ("inductor-failed-to-compile-metal", 0), ("no-wheel-for-macos-uv", 0),
    ("accelerator-index-out-of-bounds", 0),
    ("objc-fork", 0), ("watchdog-timeout", 0), ("prices-missing-bars", 0),
    ("torchvision-nms-not-implemented", 0), ("int64-in-mps-backend", 2), ("scaled-dot-product-dropout", 0),
    ("no-deterministic-implementation", 1), ("starting-from-macos", 1), ("lstm-grad-y", 0),
    ("buffer-not-large-enough", 2),
)  # fmt: skip


def page_source(language: str, parts: str) -> str:
    """Return a page with the field, its style and its script."""
    css = (ASSETS / "stylesheets" / "error-messages.css").read_text(encoding="utf-8")
    js = (ASSETS / "javascripts" / "error-filter.js").read_text(encoding="utf-8")
    return PAGE.format(language=language, css=css, js=js, parts=parts)


def with_other_numbers(text: str) -> str:
    """Return a message as somebody else would see it."""
    return re.sub(r"(?<![\w.])\d+(?![\w.]*[A-Za-z_])", lambda number: str(int(number[0]) * 3 + 7), text)


@pytest.fixture
def opened(browser):
    """Yield a function that opens one of the pages at an address; a script error fails the test."""
    page = browser.new_page(viewport={"width": 390, "height": 844})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    languages = {"en": contents("en"), "zh": contents("zh"), "topic": field("en")}

    def serve(route):
        name = route.request.url.removeprefix(ADDRESS).partition("/")[0].partition("?")[0] or "en"
        known = page_source("en" if name == "topic" else name, languages[name]) if name in languages else ""
        route.fulfill(body=known, content_type="text/html; charset=utf-8")

    page.route("**/*", serve)

    def give(place=""):
        page.goto(ADDRESS + place)
        return page

    yield give
    page.close()
    assert errors == []


def found(page) -> list[str]:
    """Return the ids of the messages that the field shows, in their order."""
    links = page.locator(".error-filter ol a")
    return links.evaluate_all("links => links.map(link => link.hash.slice(1))")


def test_nothing_is_shown_before_anything_is_typed(opened):
    page = opened()
    assert page.get_by_label("Find your error message").is_visible()
    assert page.locator(".error-list a").count() == len(MESSAGES)
    assert found(page) == [] and not page.locator("[data-else]").is_visible()


@pytest.mark.parametrize("wrapped", ["{}", TRACEBACK], ids=["alone", "in a traceback"])
def test_messages_with_other_numbers_come_first(opened, wrapped):
    page = opened()
    missed = []
    for ident, wording in PASTED:
        message = MESSAGES[ident]
        text = [message["text"], *message.get("variants", [])][wording]
        page.get_by_label("Find your error message").fill(wrapped.format(with_other_numbers(text)))
        if found(page)[:1] != [ident]:
            missed.append((ident, found(page)[:3]))
    assert missed == []


@pytest.mark.parametrize(
    ("typed", "ident"),
    [
        ("placeholder storage", "placeholder-storage"),
        ("The operator 'aten::my.out' is not currently implemented for the MPS", "not-currently-implemented"),
        ("How do I fix this: mat1 and mat2 must have the same dtype", "same-dtype-half-and-float"),
        ("pickle lambda", "cannot-pickle-local-object"),
    ],
)  # fmt: skip
def test_a_few_words_and_other_names_are_enough(opened, typed, ident):
    page = opened("zh/")
    page.get_by_label("查找你的报错").fill(typed)
    assert found(page)[0] == ident
    assert page.locator("[data-else] a").first.is_visible()
    assert not page.locator("[data-else] span").is_visible()


@pytest.mark.parametrize(
    ("typed", "ident"),
    [  # as PyTorch prints them, in words that no entry has
        ("RuntimeError: MPS does not support median ops with int64 input", "int64-in-mps-backend"),
        ("MPS: randperm op is supported natively starting from macOS 13.0.", "starting-from-macos"),
        ("RuntimeError: MPS device does not support addr for non-float input", "linear-non-float"),
        ("RuntimeError: target must be an MPS tensor", "passed-cpu-tensor"),
        ("RuntimeError: argmax: tensors requiring 64-bit indexing are not supported on MPS (numel=3e9)",
         "pooling-64-bit"),
        ("UserWarning: kthvalue MPS does not have a deterministic implementation, but you set "
         "'torch.use_deterministic_algorithms(True, warn_only=True)'.", "no-deterministic-implementation"),
    ],
)  # fmt: skip
def test_operators_without_an_entry_find_their_kind(opened, typed, ident):
    page = opened()
    page.get_by_label("Find your error message").fill(typed)
    assert found(page)[0] == ident


NO_MEMORY = (
    "RuntimeError: MPS backend out of memory (MPS allocated: {}, other allocations: {}, max allowed: {}). "
    "Tried to allocate {} pool."
)
LIMIT = (
    " Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to disable upper limit for memory allocations "
    "(may cause system failure)."
)


@pytest.mark.parametrize(
    ("typed", "ident"),
    [
        (NO_MEMORY.format("9.05 GiB", "384 KiB", "9.07 GiB", "32 MiB on private") + LIMIT, "out-of-memory"),
        (NO_MEMORY.format("9.05 GiB", "0 bytes", "9.07 GiB", "256 bytes on shared") + LIMIT, "out-of-memory"),
        (NO_MEMORY.format("17.6 GB", "256 bytes", "18.1 GB", "256 bytes on private"), "out-of-memory"),
        ("MPS backend out of memory", "out-of-memory"),
        (NO_MEMORY.format("0 bytes", "0 bytes", "7.93 GiB", "4.00 MiB on private") + LIMIT,
         "out-of-memory-zero-bytes"),
        (NO_MEMORY.format("0 bytes", "1.20 MB", "1.70 GB", "0 bytes on private"), "out-of-memory-zero-bytes"),
    ],
)  # fmt: skip
def test_only_memory_never_allocated_is_a_virtual_machine(opened, typed, ident):
    page = opened()
    page.get_by_label("Find your error message").fill(typed)
    assert found(page)[0] == ident


@pytest.mark.parametrize(
    "typed", ["my cat is hungry today", "<img src=x onerror=alert(1)> &q=1#x", "？？？？"]
)
def test_without_a_message_search_and_question_are_offered(opened, typed):
    page = opened()
    page.get_by_label("Find your error message").fill(typed)
    assert found(page) == [] and page.locator("[data-else] span").is_visible()
    links = page.locator("[data-else] a").evaluate_all("links => links.map(link => link.href)")
    assert links[1] == "https://handbook.example/start/check-setup/#ask"
    asked = page.evaluate("link => new URL(link).searchParams.get('q')", links[0])
    assert asked == typed


def test_a_long_paste_is_cut_and_its_end_counts(opened):
    page = opened()
    page.evaluate(
        "text => { const field = document.querySelector('input'); field.value = text;"
        "field.dispatchEvent(new Event('input')) }",
        "step 5 loss 0.25 " * 200_000 + MESSAGES["placeholder-storage"]["text"],
    )
    assert found(page)[0] == "placeholder-storage"


def test_a_topic_leads_to_the_list_with_the_text(opened):
    page = opened("topic/")
    page.get_by_label("Find your error message").fill(MESSAGES["float64"]["text"])
    page.get_by_role("button", name="Find").click()
    page.wait_for_url("**/error-messages/?message=*")
    assert found(page)[0] == "float64"
    page.get_by_label("Find your error message").press("Enter")
    assert page.evaluate("document.activeElement.hash") == "#float64"


def test_the_text_is_there_again_after_going_back(opened):
    page = opened()
    page.get_by_label("Find your error message").fill("placeholder storage")
    page.locator(".error-filter ol a").click()
    page.wait_for_url("**/devices/#placeholder-storage")
    page.go_back()
    assert found(page) == ["placeholder-storage"]


@pytest.mark.parametrize("typed", ["out of memory", "my cat is hungry"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_open_field_is_accessible_and_fits_a_phone(opened, language, typed):
    page = opened("" if language == "en" else "zh/")
    page.locator("#error-message").fill(typed)
    page.evaluate(AXE_SCRIPT)
    result = page.evaluate("axe.run('.error-filter', {resultTypes: ['violations']})")
    assert [rule["id"] for rule in result["violations"]] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_traceback_finds_a_message_cut_off(opened):
    """The words of the traceback are most of the text then."""
    cut = "RuntimeError: Attempting to deserialize object on a CUDA device but torch.cuda.is_available()"
    page = opened()
    page.locator("#error-message").fill(TRACEBACK.format(cut))
    assert found(page)[0] == "deserialize-cuda"
