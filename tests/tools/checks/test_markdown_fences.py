"""Fences of Markdown: what is one, where it ends and what it includes, against the site's renderer."""

import markdown
import pytest

from tools.checks.markdown_fences import find_fences, is_include_marker
from tools.checks.page_code import rendered_blocks
from tools.checks.page_reader import read_markdown


def bodies(text):
    return [fence.text for fence in find_fences(text)[0]]


def render(text):
    extensions = ["admonition", "pymdownx.superfences", "pymdownx.tabbed"]
    options = {"pymdownx.tabbed": {"alternate_style": True}}
    html = markdown.markdown(text, extensions=extensions, extension_configs=options)
    return [block.rstrip("\n") for block in rendered_blocks(html)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```python\nx\n```\n", ["x"]),
        ("~~~\nx\n~~~\n", ["x"]),
        ("~~~text title='`y`'\nx\n~~~\n", ["x"]),
        ("Text\n\n```` { .python title='a' }\n```\nx\n```\n````\n", ["```\nx\n```"]),
        ("```python\nx\n\n    y\n```  \n", ["x\n\n    y"]),
        ("!!! note\n\n    ```python\n    x\n    ```\n", ["x"]),
        ('=== "A"\n\n    === "B"\n\n        ```\n        x\n        ```\n', ["x"]),
        ("-   A\n\n    ```\n    x\n    ```\n\n1.  B\n\n    ~~~py\n    y\n    ~~~\n", ["x", "y"]),
        ("> Text\n>\n> ```\n> x\n> ```\n", ["x"]),
        ("Text ```x``` and\n```` `y` ````\n", []),  # backticks in the info string: code in a sentence
    ],
)
def test_fences_are_those_of_the_renderer(text, expected):
    assert bodies(text) == expected
    assert find_fences(text)[1] is None
    assert render(text) == expected


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("```python\nnever\n", 1),
        ("Text\n\n```python\nmore marks end nothing\n````\n", 3),
        ("````python\nfewer marks end nothing\n```\n", 1),
        ("```python\nother marks end nothing\n~~~\n", 1),
        ("```python\nx\n``` y\n", 1),
        ("- ```python\n  after the mark of a list item nothing opens, and this opens one:\n  ```\n", 3),
        ("1. ```python\n   x\n   ```\n", 3),
    ],
)
def test_fences_that_the_renderer_does_not_see_are_unclosed(text, line):
    assert find_fences(text) == ([], line)
    assert read_markdown(text).problems == [(line, "this fence is never closed")]
    assert render(text) == []


def test_only_newlines_end_lines_and_only_blanks_indent():
    assert find_fences("a\u2028```\nb\x0c```\n\u3000```\n\xa0```\n") == ([], None)


def test_languages():
    infos = ["python", "python title='x'", "{ .python title='x' }", "{.py}", ".python", "Python", ""]
    fences, _ = find_fences("".join(f"```{info}\nx\n```\n" for info in infos))
    assert [fence.language for fence in fences] == [*["python"] * 3, "py", "python", "python", ""]


@pytest.mark.parametrize(
    ("body", "include"),
    [
        ('--8<-- "snippets/a.py:one"', "snippets/a.py:one"),
        ('\n--8<-- "docs/data/recorded/run.txt"\n', "docs/data/recorded/run.txt"),
        ("--8<-- 'snippets/a.py:one'", None),
        (';--8<-- "snippets/a.py:one"', None),
        ('--8<-- "snippets/a.py:1:2"', None),
        ('--8<-- "snippets/a.py:one"\n--8<-- "snippets/a.py:two"', None),
        ('x\n--8<-- "snippets/a.py:one"', None),
        ("--8<--\nsnippets/a.py:one\n--8<--", None),
    ],
)
def test_an_include_is_the_one_line_of_a_fence(body, include):
    assert find_fences(f"```python\n{body}\n```\n")[0][0].include == include


def test_includes_of_a_fence_are_compared_by_line():
    text = '```text\n```python\n--8<-- "a.py:one"\n--8<-- "a.py:two"\n;--8<-- "a.py:three"\n```\n'
    found = [(item.value, item.line) for item in read_markdown(text).sections[0].items]
    assert found == [("text (4 lines)", 1), ("a.py:one", 3), ("a.py:two", 4)]


def test_markers_of_includes():
    for line in ("--8<-- 'a'", "  -8<- 'a'", '---8<--- "a"', ";--8<-- 'a'", "--8<--", '> --8<-- "a"'):
        assert is_include_marker(line), line
    assert not is_include_marker("Write `--8<--`.")
