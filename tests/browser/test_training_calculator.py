"""The calculator of time and cost in a real browser, alone on a page: it computes what Python computes."""

from pathlib import Path

import pytest

from docs.hooks.data_tables import render
from docs.hooks.time_and_cost import results
from docs.hooks.training_calculator import calculator, machines, trainings

ASSETS = Path(__file__).resolve().parents[2] / "docs" / "assets"
PAGE = """<!doctype html><html lang="{language}"><head><meta charset="utf-8">
<title>Calculator</title><style>{css}</style></head>
<body class="md-typeset">{calculator}<script>{js}</script></body></html>"""
VALUES = [  # steps, seconds per step, watts, price per kWh, times as fast, price per hour
    (1, 0.0123, 7, 0.1, 0.5, 0.9),
    (2_500, 0.2, 39, 0.31, 1, 3.06),
    (78_125, 0.29764, 50, 0.2872, 4, 2.3),
    (100_000, 1.7, 115, 0, 16.5, 0),
    (1e6, 4.2, 295, 12.5, 3, 1234.5),
    (3e9, 0.004, 0.5, 0.2872, 40, 2.69),
]


def page_source(language: str) -> str:
    """Return a page with the calculator, its style and its script."""
    css = (ASSETS / "stylesheets" / "training-calculator.css").read_text(encoding="utf-8")
    js = (ASSETS / "javascripts" / "training-calculator.js").read_text(encoding="utf-8")
    return PAGE.format(language=language, css=css, js=js, calculator=calculator(language))


@pytest.fixture(params=["en", "zh"])
def language(request):
    return request.param


@pytest.fixture
def form(browser, language):
    """Yield a page with the calculator; a script error fails the test."""
    page = browser.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.set_content(page_source(language))
    yield page
    page.close()
    assert errors == []


def shown(page) -> dict[str, str]:
    """Return the results that a reader sees."""
    return page.locator("[data-result]").evaluate_all(
        "all => Object.fromEntries(all.map(one => [one.dataset.result, one.textContent]))"
    )


def type_in(page, **values) -> None:
    for name, value in values.items():
        page.fill(f"[name={name}]", "" if value is None else str(value))


@pytest.mark.parametrize("values", VALUES)
def test_it_computes_what_python_computes(form, language, values):
    steps, step, watts, price, faster, per_hour = values
    type_in(
        form,
        steps=steps,
        measured=step,
        watts=watts,
        price=price,
        faster=faster,
        per_hour=per_hour,
        peak=None,
    )
    assert shown(form) == results(language, step, steps, watts, price, faster, per_hour)


def test_it_shows_the_worked_examples(form, language):
    head, _, *rows = [line for line in render("time-examples", language).splitlines() if line.startswith("|")]
    names, machine_names = dict(trainings(language)), dict(machines(language))
    columns = [name.strip() for name in head.split("|")]
    compared = 0
    for row in rows:
        cells = dict(zip(columns, (cell.strip() for cell in row.split("|")), strict=True))
        (training,) = names.keys() & cells.values()
        for mac in machine_names.keys() & columns:
            form.locator("select").nth(0).select_option(label=training)
            form.locator("select").nth(1).select_option(label=mac)
            found = shown(form)
            assert cells[mac].split("<br>") == [found["time"], found["energy"]]
            compared += 1
    assert compared == 8


def test_cheaper_hours_count(form, language):
    type_in(form, steps=2_500, measured=0.2, watts=3900, price=0.31, faster=1, per_hour=1)
    for off_peak, hours in ((0.155, 8), (0, 24), (0.2, 0)):
        type_in(form, off_peak=off_peak, off_peak_hours=hours)
        expected = results(language, 0.2, 2_500, 3900, 0.31, 1, 1, (off_peak, hours))
        assert shown(form) == expected
    for price, hours in ((0.155, None), (None, 8), (0.155, 25)):  # one is missing, or impossible
        type_in(form, off_peak=price, off_peak_hours=hours)
        assert shown(form)["electricity"] == "–"


def test_several_machines_wait_for_the_network(form, language):
    type_in(
        form, steps=10, measured=1, watts=50, price=0.3, faster=1, per_hour=1, parameters=124e6, gigabits=10
    )
    for count in (2, 3, 16):
        type_in(form, machines=count)
        expected = results(language, 1, 10, 50, 0.3, 1, 1, several=(124e6, count, 10))
        assert shown(form) == expected
    for count in (None, 0, 0.5, -1):
        type_in(form, machines=count)
        assert shown(form)["network"] == "–"


def test_measured_seconds_count_instead_of_the_estimate(form):
    estimated = shown(form)["step"]
    type_in(form, measured=0.5)
    assert shown(form)["step"] == "0.500 s" != estimated
    type_in(form, measured=None)
    assert shown(form)["step"] == estimated
    type_in(form, share=20)
    assert float(shown(form)["step"].split()[0]) == pytest.approx(2 * float(estimated.split()[0]), rel=0.01)


def test_without_a_peak_it_says_what_to_fill_in(form, language):
    hint = form.locator("[data-missing]")
    assert not hint.is_visible()
    label = next(name for name, values in machines(language) if values["peak"] is None)
    form.locator("select").nth(1).select_option(label=label)
    assert hint.is_visible() and shown(form)["time"] == "–"
    type_in(form, measured=0.5)
    assert not hint.is_visible()


def test_what_cannot_be_computed_is_a_dash(form):
    assert shown(form)["rent"] == "–"  # no rent is filled in
    type_in(form, price=0.3, watts=None)
    assert [name for name, text in shown(form).items() if text == "–"] == [
        "energy",
        "electricity",
        "rent",
        "network",
    ]
    type_in(form, steps=-5)
    assert shown(form)["time"] == shown(form)["rented"] == "–"
    type_in(form, steps=100, faster=0)
    assert shown(form)["time"] != "–" == shown(form)["rented"]


def test_own_values_are_named_so(form):
    type_in(form, work=1000)
    assert [form.locator("select").nth(place).input_value() == "" for place in (0, 1)] == [True, False]
    type_in(form, watts=33)
    assert form.locator("select").nth(1).input_value() == ""


def test_keyboard_reaches_every_field_and_enter_stays(form):
    form.locator("select").first.focus()
    names = []
    for _ in range(16):
        names.append(form.evaluate("document.activeElement.name"))
        form.keyboard.press("Tab")
    assert names == [
        "",
        "steps",
        "work",
        "measured",
        "",
        "peak",
        "share",
        "watts",
        "price",
        "off_peak",
        "off_peak_hours",
        "faster",
        "per_hour",
        "parameters",
        "machines",
        "gigabits",
    ]
    address = form.url
    form.locator("[name=per_hour]").press("Enter")
    assert form.url == address


def test_results_are_announced_and_every_field_has_a_name(form):
    assert form.locator("[role=status] [data-result]").count() == 7
    unnamed = form.locator("input, select").evaluate_all(
        "all => all.filter(one => !one.labels.length).length"
    )
    assert unnamed == 0


def test_without_javascript_there_is_no_form(browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.set_content(page_source("zh"))
    assert not page.is_visible(".training-calculator")
    context.close()
