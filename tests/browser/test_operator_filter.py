"""The box above the operator tables in a real browser, on a page that holds only the box and the tables."""

import json
from pathlib import Path

import pytest

from docs.hooks.operator_finder import HOME, STATES, TABLES, answers
from docs.hooks.operator_tables import LISTS, stem
from docs.hooks.operator_tables import TABLES as BIG
from tests.mac_reports import reading, report, with_counts, write

ASSETS = Path(__file__).resolve().parents[2] / "docs" / "assets"
PARTS = ("changed", "missing", *LISTS)
ADDRESS = "http://handbook.test/"
PAGE = """<!doctype html><html lang="{language}"><head><meta charset="utf-8">
<title>Operators</title><style>{css}</style></head>
<body class="md-typeset">{parts}<script>{js}</script></body></html>"""


def page_source(language: str, parts: tuple[str, ...] = PARTS) -> str:
    """Return a page with the box, the tables and the lists, their style and their script."""
    css = (ASSETS / "stylesheets" / "operator-tables.css").read_text(encoding="utf-8")
    js = (ASSETS / "javascripts" / "operator-filter.js").read_text(encoding="utf-8")
    shown = [TABLES["operators-finder"](language), *(BIG[f"operators-{part}"](language) for part in parts)]
    return PAGE.format(language=language, css=css, js=js, parts="\n".join(shown).replace(HOME, "./"))


def open_page(context, language="en", parts=PARTS):
    """Return a new page with the box; its answers are those of the language."""
    page = context.new_page()
    states = json.dumps(answers(language))
    page.route(f"{ADDRESS}**", lambda route: route.fulfill(body=page_source(language, parts)))
    page.route(
        f"{ADDRESS}{STATES}", lambda route: route.fulfill(body=states, content_type="application/json")
    )
    page.goto(ADDRESS)
    return page


@pytest.fixture(scope="module")
def both(browser):
    """Yield a page with the English tables, and one with the box alone; a script error fails the test."""
    errors: list[str] = []
    pages = open_page(browser), open_page(browser, parts=())
    for page in pages:
        page.on("pageerror", lambda error: errors.append(str(error)))
    yield pages
    for page in pages:
        page.close()
    assert errors == []


@pytest.fixture
def operators(both):
    """Return the page with the tables, with nothing asked for."""
    ask(both[0], "")
    return both[0]


def ask(page, text) -> list[str]:
    """Type, and return the lines of the answer."""
    page.get_by_label("Find an operator").fill(text)
    page.wait_for_function(
        "text => !text === !document.querySelector('[role=status]').childNodes.length", arg=text.strip()
    )
    page.wait_for_timeout(20)
    return [line.strip() for line in page.inner_text("[role=status]").splitlines() if line.strip()]


def shown(page) -> list[str]:
    """Return the names of the rows and list entries that a reader sees."""
    entries = page.locator("[data-operators] :is(tbody tr, li)")
    return [text.split()[0] for text in entries.evaluate_all(
        "entries => entries.filter(entry => entry.checkVisibility()).map(entry => entry.innerText)"
    )]  # fmt: skip


def said_of(page) -> list[str]:
    """Return the names that the answer is about."""
    return page.locator(".operator-answer li > code").all_inner_texts()


def test_everything_is_there_before_anything_is_typed(operators):
    assert operators.get_by_label("Find an operator").is_visible()
    assert not operators.is_visible(".operator-plain")
    assert operators.inner_text("[role=status]") == ""
    assert operators.locator("tbody tr[hidden], li[hidden]").count() == 0
    assert not operators.is_visible("details li")  # folded up


ERROR = (
    "NotImplementedError: The operator '{}' is not currently implemented for the MPS device. If you want this"
)
TRACEBACK = """Traceback (most recent call last): File "/opt/homebrew/lib/python3.11/site-packages/torch/nn/\
functional.py", line 1494, in max_pool3d return torch.max_pool3d(input, kernel_size) File "train.py", \
line 3, in forward return self.linear(x.view(2, -1)) """ + ERROR.format("aten::max_pool3d_with_indices")
NEVER = "No MPS kernel in any release up to 2.15"
NONE = "No operator of this name in PyTorch 1.12 to 2.15"


@pytest.mark.parametrize(
    ("typed", "name", "said"),
    [
        ("linalg_eig", "linalg_eig", f"{NEVER}: use the tested replacement."),
        ("aten::linalg_eig.out", "linalg_eig", NEVER),
        ("'aten::linalg_eig.out'", "linalg_eig", NEVER),
        ("“linalg_eig”", "linalg_eig", NEVER),
        ("`torch.linalg.eig`", "linalg_eig", NEVER),
        ("  Aten.LINALG_EIG ", "linalg_eig", NEVER),
        ("torch.linalg.eig(x)", "linalg_eig", NEVER),
        ("linalg eig", "linalg_eig", NEVER),
        ("why does linalg_eig fail?", "linalg_eig", NEVER),
        (ERROR.format("aten::linalg_eig"), "linalg_eig", NEVER),
        ("'aten::linalg_qr.out'", "linalg_qr", "MPS kernel since 2.12."),
        ("torch.linalg.qr", "linalg_qr", "MPS kernel since 2.12."),
        ("aten::linalg_qr.default", "linalg_qr", "MPS kernel since 2.12."),
        (TRACEBACK, "max_pool3d_with_indices", "MPS kernel since 2.9."),
        ("nn.MaxPool3d", "max_pool3d_with_indices", "MPS kernel since 2.9."),
        ("torch.nn.MaxPool3d(2)", "max_pool3d_with_indices", "MPS kernel since 2.9."),
        ("y = F.max_pool3d(x, 2)", "max_pool3d_with_indices", "MPS kernel since 2.9."),
        ("MaxPool3d", "max_pool3d_with_indices", "MPS kernel since 2.9."),
        ("torch.nn.functional.gelu(x)", "gelu", "MPS kernel since 1.12."),
        ("F.gelu", "gelu_backward", "MPS kernel since 1.12."),
        ("grid_sampler_3d", "grid_sampler_3d_backward", "MPS kernel since 2.13."),
        ("grid_sampler_3d", "grid_sampler_3d", "MPS kernel since 2.9."),
        ("grid_sampler_3d_backward", "grid_sampler_3d_backward", "MPS kernel since 2.13."),
        ("logit_", "logit_", f"{NEVER}: use Tensor.logit(), which has a kernel."),
        ("x.logit_()", "logit_", NEVER),
        ("logit", "logit", "MPS kernel since 2."),
        ("torch.mode", "mode", f"{NEVER}: compute this call on the CPU"),
        ("linalg_eigh", "_linalg_eigh", "MPS kernel since 2.14."),
        ("einsum", "einsum", "Composed of other operators: it works if its parts do."),
        ("nn.Conv2d", "conv2d", "Composed of other operators"),
        ("torch.cholesky", "cholesky", "No longer an operator of PyTorch since 2.14."),
        ("max.unary_out", "max.unary_out", f"{NEVER}: call it without out=."),
        ("kthvalue", "kthvalue.values", "MPS kernel since 2.9."),
        ("_coalesce", "_coalesce", "No MPS kernel for ordinary tensors up to 2.15, and none of CUDA"),
        ("aten::_cudnn_rnn", "_cudnn_rnn", f"{NEVER}. What it belongs to: libraries of NVIDIA and AMD."),
        ("nn.MultiLabelMarginLoss", "multilabel_margin_loss_forward", "use the tested replacement."),
        ("put_", "put_", "It also had one in 1.12 to 1.13, but not in between."),
    ],
)
def test_an_operator_is_found_as_people_write_it(both, typed, name, said):
    """The same on a page with the tables and on one without."""
    for page in both:
        lines = ask(page, typed)
        about = [line for line in lines if name in line.partition(": ")[0].replace("…", "").split(", ")]
        assert len(about) == 1, lines
        assert said in about[0]
    assert shown(both[1]) == []
    assert all(stem(row) in {stem(each) for each in said_of(both[0])} for row in shown(both[0]))


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("torchvision::nms", "torchvision::nms belongs to torchvision, not to PyTorch: what to do."),
        (ERROR.format("torchvision::nms"), "torchvision::nms belongs to torchvision, not to PyTorch"),
        ("torchvision.ops.roi_align(x)", "torchvision.ops.roi_align belongs to torchvision"),
        ("nms", "nms belongs to torchvision"),
        ("torch_sparse::spmm_sum", "torch_sparse::spmm_sum belongs to the package torch_sparse"),
        ("quantized::linear", "quantized::linear belongs to PyTorch's library quantized."),
        ("aten::no_such_thing", f"{NONE}: no_such_thing"),
        ("linalg_qr_", f"{NONE}: linalg_qr_"),
        ("'linalg_qrr'", f"{NONE}: linalg_qrr"),
        ("nn.Transformer", "nn.Transformer is made of operators that are not listed here"),
        ("RuntimeError: view size is not compatible with the input index", "Here is no name of an operator."),
        ('File "/x/torch/nn/modules/linear.py", line 125, in forward', "Here is no name of an operator."),
        ("<img src=x onerror=alert(1)>", "Here is no name of an operator."),
    ],
)
def test_what_is_no_operator_is_named_as_that(both, typed, line):
    for page in both:
        assert ask(page, typed)[0].startswith(line)
    assert len(shown(both[0])) > 150  # everything else stays


def test_near_names_are_offered_and_answer(operators):
    assert ask(operators, "linalg_qrr")[1:] == ["Did you mean: linalg_qr"]
    operators.get_by_role("button", name="linalg_qr", exact=True).click()
    operators.wait_for_selector("text=MPS kernel since 2.12.")
    assert shown(operators)[0] == "linalg_qr"
    lines = ask(operators, "pool3d")
    assert lines[0] == f"{NONE}: pool3d"
    assert lines[1].startswith("Names that contain it: ") and "avg_pool3d" in lines[1]
    assert all("pool3d" in name for name in shown(operators))


def test_several_operators_of_one_error_are_answered(operators):
    lines = ask(operators, "aten::linalg_eig, then aten::gelu and aten::linalg_eig again")
    assert any(line.startswith("linalg_eig") for line in lines)
    assert any(line.startswith("gelu") for line in lines)


def test_a_folded_list_opens_for_what_it_holds(operators):
    ask(operators, "einsum")
    assert shown(operators) == ["einsum"]
    ask(operators, "")
    assert not operators.is_visible("details li")
    assert operators.locator("tbody tr[hidden]").count() == 0


def test_what_is_found_begins_below_the_box(browser):
    """Sections without a hit and the text in front of tables are put aside until the field is empty."""
    page = open_page(browser)
    for number, part in enumerate(PARTS):
        page.evaluate(
            """([number, part]) => {
                const group = document.querySelectorAll("[data-operators]")[number]
                group.insertAdjacentHTML("beforebegin", `<h2>${part}</h2><p class=t>Before ${part}.</p>`)
                group.insertAdjacentHTML("afterend", `<p class=t>After ${part}.</p>`)
            }""",
            [number, part],
        )
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<h2>Last</h2><p class=t>Rest.</p>')")
    seen = "texts => texts.filter(text => text.checkVisibility()).map(text => text.innerText)"
    texts = page.locator(":is(h2, body > p.t)")
    everything = texts.evaluate_all(seen)
    ask(page, "einsum")
    assert texts.evaluate_all(seen) == ["composed", "After composed.", "Last", "Rest."]
    ask(page, "no_such_operator")
    assert texts.evaluate_all(seen) == everything
    ask(page, "")
    assert texts.evaluate_all(seen) == everything
    page.close()


def test_what_a_mac_found_is_no_name(browser, tmp_path):
    content = report()
    for check in content["checks"]:
        if check["group"] == "operators":
            check |= {"agrees": False, "text": "use take"}
    with reading(tmp_path / "macs"):
        write(tmp_path / "macs", "a.json", with_counts(content))
        page = open_page(browser)
    assert page.locator(".mac-mark").count() == 3
    assert "use take" in page.locator("tr", has_text="channel_shuffle").first.inner_text()
    ask(page, "take")
    assert {stem(name) for name in shown(page)} == {"take"}
    ask(page, "channel_shuffle")
    assert [stem(name) for name in shown(page)] == ["channel_shuffle"]
    page.close()


def test_links_lead_from_any_page(both):
    ask(both[1], "linalg_eig")
    link = both[1].locator(".operator-answer a").first.get_attribute("href")
    assert link == "./guides/missing-operators/#eig"


def test_without_the_answers_the_tables_are_filtered(browser):
    page = open_page(browser)
    page.route(f"{ADDRESS}{STATES}", lambda route: route.abort())
    page.get_by_label("Find an operator").fill("'aten::einsum'")
    page.wait_for_function("() => document.querySelectorAll('tbody tr:not([hidden])').length === 0")
    assert shown(page) == ["einsum"]
    page.close()


def test_chinese_answers(browser):
    page = open_page(browser, "zh", ())
    page.get_by_label("查找算子").fill("nn.MaxPool3d")
    page.wait_for_selector("text=从 2.9 起有 MPS 核函数。")
    page.close()


def test_without_javascript_the_tables_are_plain(browser):
    context = browser.new_context(java_script_enabled=False)
    page = open_page(context, "zh")
    assert not page.is_visible(".operator-filter input")
    assert page.is_visible("text=各版本的算子")
    assert page.is_visible("text=linalg_ldl_factor_ex")
    context.close()
