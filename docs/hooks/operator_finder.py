"""Find an operator: a box for a name or a pasted error, and a short table of replacements, for any page.

docs/assets/javascripts/operator-filter.js answers from assets/operator-states.json, which is made here with
the sentences of docs/hooks/operator_states.py, and filters the tables of operators where the page has them.
Without scripts there is a link to the page of operators. `@home/` in a table is the way to the home page.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from operator_states import GUIDE, PAGE, releases, replacements, states
from rendering import MISSING

HOME = "@home/"
STATES = "assets/operator-states.json"
# Operators of torchvision that people ask for without its name.
TORCHVISION = "nms roi_align roi_pool ps_roi_align ps_roi_pool deform_conv2d"
# Namespaces of PyTorch itself beside aten.
OF_PYTORCH = (
    "quantized prims prim c10d _c10d_functional symm_mem mkldnn mkldnn_prepacked onednn inductor higher_order"
)
TEXT: dict[str, dict[str, str]] = {
    "en": {
        "label": "Find an operator",
        "hint": "The line of the error, a name, nn.MaxPool3d",
        "plain": f'<a href="{PAGE}">Operators by version</a> lists each operator with its releases.',
        "operator": "Operators",
        "met": "Met in",
        "state": "MPS kernel, or what to use",
    },
    "zh": {
        "label": "查找算子",
        "hint": "整行报错、算子名或 nn.MaxPool3d",
        "plain": f'<a href="{PAGE}">各版本的算子</a>列出了每个算子和有核函数的版本。',
        "operator": "算子",
        "met": "在哪里遇到",
        "state": "MPS 核函数，或者替代办法",
    },
}
WORDS: dict[str, dict[str, str]] = {
    "en": {
        "colon": ": ",
        "joint": ", ",
        "none": "No operator of this name in PyTorch {first} to {last}",
        "near": "Did you mean",
        "contains": "Names that contain it",
        "calls": "calls",
        "torchvision": 'belongs to torchvision, not to PyTorch: <a href="@home/reference/error-messages/'
        'operators/#torchvision-nms-not-implemented">what to do</a>.',
        "package": "belongs to the package {package}: ask there, or compute the call on the CPU.",
        "pytorch": "belongs to PyTorch's library {package}. Here are the operators of aten only.",
        "module": "is made of operators that are not listed here: "
        f'<a href="{GUIDE}#find">record which ones your code calls</a>.',
        "words": 'Here is no name of an operator. <a href="@home/reference/error-messages/">'
        "Look for the message</a> instead.",
        "entries": "Entries in the tables: {found}",
    },
    "zh": {
        "colon": "：",
        "joint": "、",
        "none": "PyTorch {first} 到 {last} 里没有这个名字的算子",
        "near": "是不是",
        "contains": "含有它的名字",
        "calls": "调用",
        "torchvision": '属于 torchvision，不属于 PyTorch，请看<a href="@home/reference/error-messages/'
        'operators/#torchvision-nms-not-implemented">解决办法</a>。',
        "package": "属于软件包 {package}，请到这个软件包的 issue 里询问，或者把这一次调用放到 CPU 上。",
        "pytorch": "属于 PyTorch 的 {package} 库。这里只有 aten 的算子。",
        "module": f'由多个算子组成，这里没有列出，请<a href="{GUIDE}#find">录下代码调用了哪些算子</a>。',
        "words": '这里没有算子的名字。请<a href="@home/reference/error-messages/">查找这条报错</a>。',
        "entries": "表里的条目：{found} 个",
    },
}


def finder(language: str) -> str:
    """Return the box; the script fills in the answer."""
    text = TEXT[language]
    return (
        f'<div class="operator-filter" data-operator-finder data-home="{HOME}">\n<div hidden>'
        f'<label for="operator-filter">{text["label"]}</label>\n'
        f'<input id="operator-filter" type="search" placeholder="{text["hint"]}" autocomplete="off"'
        ' autocapitalize="none" spellcheck="false"></div>\n'
        f'<p class="operator-plain">{text["plain"]}</p>\n'
        '<div class="operator-answer" role="status"></div>\n</div>'
    )


def replacement_table(language: str) -> str:
    """Return which operators a training can miss, and since when or what to use instead."""
    text, joint = TEXT[language], WORDS[language]["joint"]
    lines = [[text["operator"], text["met"], text["state"]], ["---"] * 3]
    for row in replacements(language):
        names, callers = (joint.join(f"`{name}`" for name in row[key]) for key in ("names", "callers"))
        lines.append([names, callers or MISSING, row["sentence"]])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def answers(language: str) -> dict[str, Any]:
    """Return what the script needs to answer in a language."""
    known = releases()
    words = dict(WORDS[language])
    words["none"] = words["none"].format(first=known[0], last=known[-1])
    return {
        **states(language),
        "words": words,
        "torchvision": TORCHVISION.split(),
        "pytorch": OF_PYTORCH.split(),
    }


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put the way to the home page in. On the page of operators, the words that lead to it are no link."""
    if HOME + page.url == PAGE:
        html = re.sub(f'(<p class="operator-plain">)<a href="{PAGE}">([^<]+)</a>', r"\1\2", html)
    return html.replace(f'"{HOME}', '"' + ("../" * page.url.count("/") or "./"))


def on_post_build(config: MkDocsConfig) -> None:
    """Write the answers of this language."""
    text = json.dumps(answers(os.environ.get("DOCS_LOCALE", "en")), ensure_ascii=False, separators=(",", ":"))
    Path(config.site_dir, STATES).write_text(text, encoding="utf-8")


TABLES: dict[str, Callable[[str], str]] = {
    "operators-finder": finder,
    "operators-replacements": replacement_table,
}
