"""The reader of pages: what counts as structure, as prose and as neither."""

import pytest

from tools.checks.page_reader import read_markdown, split_front_matter


def section(text):
    """Return the first section with a heading."""
    return read_markdown(text).sections[1]


def test_elements_are_found_in_order():
    page = read_markdown(
        "---\ndescription: d\n---\n# A { #a }\n\n"
        '!!! warning "Mind"\n    Text.\n\n'
        '=== "macOS"\n\n    ```bash\n    --8<-- "snippets/shell/x.sh:y"\n    ```\n\n'
        "<!-- table: versions -->\n<!-- with repository -->\n\n"
        "| a | b |\n| - | - |\n| 1 | 2 |\n\n## B { #b }\n"
    )
    assert page.meta == {"description": "d"}
    assert [(h.level, h.ident, h.title) for h in page.headings] == [(1, "a", "A"), (2, "b", "B")]
    assert [(item.kind, item.value) for item in page.sections[1].items] == [
        ("admonition", "!!! warning"),
        ("content tab", ""),
        ("fence", "bash (1 lines)"),
        ("include", "snippets/shell/x.sh:y"),
        ("table marker", "table: versions"),
        ("passage", "with repository"),
        ("table", "2 rows x 2 columns"),
    ]
    assert page.sections[2].items == []


def test_code_is_no_prose_and_no_structure():
    page = read_markdown(
        "# A { #a }\n\n```python\n# 12 heading { #no }\n[link](x.md)\n```\n\n"
        "Use `x = 7`, ``a ` b 8`` and `<!-- table: no -->`, not [`c`](d.md) 5.\n"
    )
    first = page.sections[1]
    assert page.code == ["x = 7", "a ` b 8", "<!-- table: no -->", "c"]
    assert [item.kind for item in first.items] == ["fence"]
    assert first.links == {"d.md": 1}
    assert not set("7812") & set(first.text)
    assert "5" in first.text
    assert page.show(first.text).count("`x = 7`") == 1


def test_targets_of_every_kind_of_link():
    first = section(
        "# A { #a }\n\n[text\nover lines](a.md#b) [paren](https://x.org/w_(y)) <https://auto.org/1> https://bare.org/2.\n"
        '[![alt 3](img.svg){ width="400" }](big.svg) <a href="raw.html">raw</a> <img src="i.png" alt="x">\n'
        "[ref][r] and a note[^1] and $\\text{loss} = 4$.\n\n[r]: ref.md 'title'\n\n[^1]: The note.\n"
    )
    assert set(first.links) == {
        "a.md#b",
        "https://x.org/w_(y)",
        "https://auto.org/1",
        "https://bare.org/2",
        "big.svg",
        "raw.html",
        "ref.md",
    }
    assert set(first.images) == {"img.svg", "i.png"}
    assert first.footnotes == {"1": 2}
    assert first.formulas == {"\\text{} = 4": 1}
    assert "alt 3" in first.text and "400" not in first.text and "4$" not in first.text


def test_nested_fences_and_an_unclosed_one():
    page = read_markdown("````text\n```python\nx\n```\n````\n\n# A { #a }\n\n```python\nnever closed\n")
    assert [item.value for item in page.sections[0].items] == ["text (3 lines)"]
    assert page.problems == [(9, "this fence is never closed")]


def test_include_over_several_lines_and_underlined_heading_are_problems():
    page = read_markdown("--8<--\na.py\n--8<--\n\nHeading\n-------\n")
    assert [line for line, _ in page.problems] == [1, 3, 6]


def test_html_heading_counts():
    page = read_markdown('<h1 id="home" class="big">MPS <em>Handbook</em></h1>\n\n<h2>No id</h2>\n')
    assert [(h.level, h.ident, h.title) for h in page.headings] == [
        (1, "home", "MPS Handbook"),
        (2, None, "No id"),
    ]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("---\na: [1\n---\n", "not YAML"),
        ("---\na: 1\n", "never closed"),
        ("---\n- a\n---\n", "not a mapping"),
    ],
)
def test_bad_front_matter_is_named(text, wrong):
    assert wrong in split_front_matter(text)[2]
