"""Code on pages: planted defects of every kind, against the real Markdown renderer where it matters."""

import json
from pathlib import Path

import markdown
import pytest
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.utils.yaml import get_yaml_loader, yaml_load

from tools.checks.page_code import (
    check_markdown,
    check_notebook,
    check_pages,
    compare_rendered,
    expected_blocks,
    is_tree,
    rendered_blocks,
    unused,
)
from tools.checks.sections import all_sections

ROOT = Path(__file__).resolve().parents[3]
INCLUDE = '--8<-- "snippets/a.py:one"'


@pytest.fixture
def tree(plant, tmp_path):
    """Return the root of a small repository: Python and shell sections, a recorded output."""
    plant(
        "snippets/a.py",
        """
        # --8<-- [start:one]
        x = "<1>"

        y = 2
        # --8<-- [end:one]
        # --8<-- [start:two]
        z = 3
        # --8<-- [end:two]
        """,
    )
    plant("snippets/shell/go.sh", "# ci: run\n# --8<-- [start:go]\necho go\n# --8<-- [end:go]\n")
    plant("snippets/notes.txt", "text\n")
    plant("docs/data/recorded/run.txt", "epoch 1 | loss 2.3\nepoch 2 | loss 1.9\n")
    return tmp_path


def check(tree, text):
    return check_markdown("docs/en/p.md", text, tree, all_sections(tree)[0])


def render(tree, text):
    """Render Markdown as the site does: the extensions of mkdocs.yml, after those MkDocs always has."""
    loader = get_yaml_loader(config=MkDocsConfig(str(ROOT / "mkdocs.yml")))  # knows !relative
    with (ROOT / "mkdocs.yml").open(encoding="utf-8") as file:
        extensions = yaml_load(file, loader)["markdown_extensions"]
    extensions["pymdownx.snippets"] = {**extensions["pymdownx.snippets"], "base_path": [str(tree)]}
    names = ["toc", "tables", "fenced_code", *(name for name in extensions if name not in ("toc", "tables"))]
    return markdown.Markdown(extensions=names, extension_configs=extensions).convert(text)


GOOD = f"""
Text with `<pre>` and ``--8<-- `x` ``.

```python
{INCLUDE}
```

=== "Tab"

    ```{{ .python title="a.py" }}
    {INCLUDE}
    ```

    === "Tab in a tab"

        ~~~py
        {INCLUDE}
        ~~~

!!! note

    ```python title="a.py" hl_lines="1"
    {INCLUDE}
    ```

1.  A list

    ```bash
    --8<-- "snippets/shell/go.sh:go"
    ```

```text
--8<-- "docs/data/recorded/run.txt"
```

```tree
runs/cifar_optimizers/
├── config.json      every option
└── checkpoints/
    └── last.pt
```
"""


def test_good_page(tree):
    used, defects = check(tree, GOOD)
    assert defects == []
    assert used == ["snippets/a.py:one"] * 4 + ["snippets/shell/go.sh:go", "docs/data/recorded/run.txt"]


def test_good_page_renders_what_its_source_promises(tree):
    page = tree / "docs/en/p.md"
    page.write_text(GOOD, encoding="utf-8")
    expected = expected_blocks(page, tree, all_sections(tree)[0])
    html = render(tree, GOOD)
    assert len(rendered_blocks(html)) == len(expected) == 7
    assert compare_rendered(expected, html) == []


def test_a_page_promises_the_code_of_its_case(tree, plant, monkeypatch):
    plant(
        "snippets/shell/get.sh",
        '# ci: run\n# --8<-- [start:get]\ngit clone "$REPO_URL"\n# --8<-- [end:get]\n',
    )
    page = plant(
        "docs/en/p.md",
        """
        <!-- with repository -->
        ```bash
        --8<-- "snippets/shell/get.sh:get"
        ```
        <!-- without repository -->
        ```bash
        --8<-- "snippets/shell/go.sh:go"
        ```
        <!-- end repository -->
        """,
    )
    used, defects = check(tree, page.read_text(encoding="utf-8"))
    assert (used, defects) == (["snippets/shell/get.sh:get", "snippets/shell/go.sh:go"], [])
    sections = all_sections(tree)[0]
    monkeypatch.delenv("REPO_URL", raising=False)
    assert expected_blocks(page, tree, sections) == ["echo go"]
    monkeypatch.setenv("REPO_URL", "https://example.org/a")
    assert expected_blocks(page, tree, sections) == ["git clone https://example.org/a"]


@pytest.mark.parametrize(
    "fence",
    [
        "```python\nprint(1)\n```",
        "```py\nprint(1)\n```",
        '```python title="a.py"\nprint(1)\n```',
        '``` { .python title="a.py" }\nprint(1)\n```',
        "~~~python\nprint(1)\n~~~",
        "````\nprint(1)\n````",
        "```bash\nrm -rf /\n```",
        '=== "Tab"\n\n    ```python\n    print(1)\n    ```',
        "> ```python\n> print(1)\n> ```",
        f"```python\n{INCLUDE}\nprint(1)\n```",
        f"```python\n{INCLUDE}\n{INCLUDE}\n```",
        f"```python\n;{INCLUDE}\n```",
        "```python\n--8<--\nsnippets/a.py:one\nsnippets/a.py:two\n--8<--\n```",
        "```python\n\n```",
    ],
)
def test_typed_in_code_is_banned(tree, fence):
    _, defects = check(tree, f"Text.\n\n{fence}\n")
    assert len(defects) == 1
    assert "typed-in code" in defects[0]


@pytest.mark.parametrize(
    ("include", "language", "expected"),
    [
        ("snippets/missing.py:one", "python", "no such file"),
        ("snippets/a.py:three", "python", "no such section"),
        ("snippets/a.py", "python", "name a section"),
        ("snippets/a.py:1:2", "python", "line ranges are banned"),
        ("snippets/a.py:1", "python", "line ranges are banned"),
        ("snippets/a.py::2", "python", "line ranges are banned"),
        ("snippets/a.py:1:2,4:5", "python", "line ranges are banned"),
        ("../outside.py:one", "python", "includes come from"),
        ("snippets/../docs/data/secret.py:one", "python", "includes come from"),
        ("tools/checks/sections.py:one", "python", "includes come from"),
        ("docs/data/claims.yaml", "text", "includes come from"),
        ("docs/data/recorded/run.txt:part", "text", "includes come from"),
        ("docs/data/recorded/gone.txt", "text", "no such file"),
        ("/etc/passwd", "text", "includes come from"),
        ("snippets/notes.txt", "text", "sections are kept in"),
        ("https://example.org/a.py", "python", "typed-in code"),
        ("snippets/a.py:one", "bash", "shown as 'bash'"),
        ("snippets/a.py:one", "tree", "something else than a directory tree"),
    ],
)
def test_wrong_includes(tree, include, language, expected):
    used, defects = check(tree, f'```{language}\n--8<-- "{include}"\n```\n')
    assert used == []
    assert len(defects) == 1
    assert defects[0].startswith("docs/en/p.md:1: ")
    assert expected in defects[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"Text\n\n{INCLUDE}\n", "p.md:3: an include outside of a fence"),
        (f"-   ```python\n    {INCLUDE}\n    ```\n", "an include outside of a fence"),
        ("<pre>print(1)</pre>\n", "p.md:1: raw HTML <pre>"),
        ("Text <code>x</code>\n", "p.md:1: raw HTML <code>"),
        ('<div class="from-data" markdown>\n', "reserved"),
        (f"```python\n{INCLUDE}\n", "p.md:1: this fence is never closed"),
        (f"```python\n{INCLUDE}\n~~~\n", "p.md:1: this fence is never closed"),
        (f"````python\n{INCLUDE}\n```\n", "p.md:1: this fence is never closed"),
    ],
)
def test_code_outside_of_fences(tree, text, expected):
    _, defects = check(tree, text)
    assert any(expected in defect for defect in defects)


@pytest.mark.parametrize(
    "hidden",
    [
        "    print(1)\n",
        '!!! note\n\n        print("in a note")\n',
        "-   A list\n\n        print(1)\n",
        f"```python title=unquoted\n{INCLUDE}\n```\n",
        f"> ```python\n> {INCLUDE}\n> ```\n",
        f"<!--\n```python\n{INCLUDE}\n```\n-->\n\n    z = 3\n",
    ],
)
def test_the_rendered_page_betrays_what_the_scanner_misses(tree, hidden):
    text = f"Text.\n\n```python\n{INCLUDE}\n```\n\nMore text.\n\n{hidden}"
    page = tree / "docs/en/p.md"
    page.write_text(text, encoding="utf-8")
    expected = expected_blocks(page, tree, all_sections(tree)[0])
    assert len(compare_rendered(expected, render(tree, text))) == 1


def test_a_tree_is_a_tree():
    assert is_tree(("runs/", "├── a", "│   └── b", "└── c"))
    assert not is_tree(("import torch", "└── b")) and not is_tree(("runs/", "print(1)"))


def test_unused_sections_and_recordings(tree):
    (tree / "docs/en/p.md").write_text(f"```python\n{INCLUDE}\n```\n", encoding="utf-8")
    sections, _ = all_sections(tree)
    users, defects = check_pages(tree, sections)
    assert defects == []
    assert users == {"snippets/a.py:one": {"docs/en/p.md"}}
    assert unused(tree, sections, users) == [
        "snippets/a.py:6: section 'two' is shown on no page",
        "snippets/shell/go.sh:2: section 'go' is shown on no page",
        "docs/data/recorded/run.txt is shown on no page",
    ]


def test_notebook_cells_are_sections(tree):
    cells = [
        {"cell_type": "markdown", "source": ["# Title"]},
        {"cell_type": "code", "source": ['x = "<1>"\n', "\n", "y = 2"]},
        {"cell_type": "code", "source": ["print('typed in')"]},
    ]
    used, defects = check_notebook("docs/en/n.ipynb", json.dumps({"cells": cells}), all_sections(tree)[0])
    assert used == ["snippets/a.py:one"]
    assert len(defects) == 1
    assert "code cell 2 is not the text of any section" in defects[0]
