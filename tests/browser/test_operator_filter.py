"""The box above the operator tables in a real browser, on a page that holds only the box and the tables."""

from pathlib import Path

import pytest

from docs.hooks.operator_tables import LISTS, TABLES

ASSETS = Path(__file__).resolve().parents[2] / "docs" / "assets"
PARTS = ("filter", "changed", "missing", *LISTS)
PAGE = """<!doctype html><html lang="{language}"><head><meta charset="utf-8">
<title>Operators</title><style>{css}</style></head>
<body class="md-typeset">{parts}<script>{js}</script></body></html>"""


def page_source(language: str) -> str:
    """Return a page with the box, the tables and the lists, their style and their script."""
    css = (ASSETS / "stylesheets" / "operator-tables.css").read_text(encoding="utf-8")
    js = (ASSETS / "javascripts" / "operator-filter.js").read_text(encoding="utf-8")
    parts = "\n".join(TABLES[f"operators-{part}"](language) for part in PARTS)
    return PAGE.format(language=language, css=css, js=js, parts=parts)


@pytest.fixture
def operators(browser):
    """Yield a page with the English tables; a script error fails the test."""
    page = browser.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.set_content(page_source("en"))
    yield page
    page.close()
    assert errors == []


def shown(page) -> list[str]:
    """Return the names of the rows and list entries that a reader sees."""
    entries = page.locator("[data-operators] :is(tbody tr, li)")
    return [text.split()[0] for text in entries.evaluate_all(
        "entries => entries.filter(entry => entry.checkVisibility()).map(entry => entry.innerText)"
    )]  # fmt: skip


def test_everything_is_there_before_anything_is_typed(operators):
    assert operators.get_by_label("Find an operator").is_visible()
    assert operators.inner_text("[role=status]") == ""
    assert operators.locator("tbody tr[hidden], li[hidden]").count() == 0
    assert not operators.is_visible("details li")  # folded up


ERROR = "NotImplementedError: The operator 'aten::linalg_eig.out' is not currently implemented for the MPS"


@pytest.mark.parametrize(
    "typed",
    [
        "linalg_eig",
        "aten::linalg_eig.out",
        "'aten::linalg_eig.out'",
        "  Aten.LINALG_EIG ",
        "torch.linalg.eig(x)",
        "linalg eig",
        "why does linalg_eig fail?",
        ERROR,
    ],
)
def test_names_are_found_as_errors_write_them(operators, typed):
    operators.get_by_label("Find an operator").fill(typed)
    names = shown(operators)
    assert "linalg_eig" in names
    assert all("linalg_eig" in name for name in names)
    assert operators.inner_text("[role=status]").startswith(f"{len(names)} of ")


def test_a_folded_list_opens_for_what_it_holds(operators):
    field = operators.get_by_label("Find an operator")
    field.fill("einsum")
    assert shown(operators) == ["einsum"]
    field.fill("")
    assert not operators.is_visible("details li")
    assert operators.locator("tbody tr[hidden]").count() == 0


def test_nothing_found_is_said_of_the_tables_alone(operators):
    operators.get_by_label("Find an operator").fill("torchvision::nms")
    assert shown(operators) == []
    status = operators.inner_text("[role=status]")
    assert status.startswith("“torchvision::nms” is not in these tables, which list the operators of PyTorch")
    assert " 2.15.0 " in status
    assert "VERSION" not in status and "{" not in status


def test_what_is_found_begins_below_the_box(operators):
    """Sections without a hit and the text in front of tables are put aside until the field is empty."""
    field = operators.get_by_label("Find an operator")
    for number, part in enumerate(PARTS[1:]):
        operators.evaluate(
            """([number, part]) => {
                const group = document.querySelectorAll("[data-operators]")[number]
                group.insertAdjacentHTML("beforebegin", `<h2>${part}</h2><p>Before ${part}.</p>`)
                group.insertAdjacentHTML("afterend", `<p>After ${part}.</p>`)
            }""",
            [number, part],
        )
    operators.evaluate("document.body.insertAdjacentHTML('beforeend', '<h2>Last</h2><p>Rest.</p>')")
    seen = "texts => texts.filter(text => text.checkVisibility()).map(text => text.innerText)"
    texts = operators.locator(":is(h2, body > p)")
    everything = texts.evaluate_all(seen)
    field.fill("einsum")
    assert texts.evaluate_all(seen) == ["composed", "After composed.", "Last", "Rest."]
    field.fill("no_such_operator")
    assert texts.evaluate_all(seen) == everything
    field.fill("")
    assert texts.evaluate_all(seen) == everything


def test_without_javascript_the_tables_are_plain(browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.set_content(page_source("zh"))
    assert not page.is_visible(".operator-filter")
    assert page.is_visible("text=linalg_ldl_factor_ex")
    context.close()
