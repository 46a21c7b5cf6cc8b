"""Sections of files: what is read, and that each planted defect is reported."""

import hashlib

import pytest

from tools.checks.sections import all_sections, code_alone, parse_sections


def read(path, root):
    sections, defects = parse_sections(path, root)
    return {section.name: section for section in sections}, defects


def test_sections_are_dedented_and_hashed(plant, tmp_path):
    path = plant(
        "snippets/a.py",
        """
        def twice(x):
            # --8<-- [start:body]
            if x:
                x = 2 * x

            return x
            # --8<-- [end:body]
        """,
    )
    sections, defects = read(path, tmp_path)
    assert defects == []
    body = sections["body"]
    assert body.text == "if x:\n    x = 2 * x\n\nreturn x"
    assert body.hash == hashlib.sha256(b"if x:\n    x = 2 * x\nreturn x").hexdigest()[:16]
    assert (body.key, body.first, body.last) == ("snippets/a.py:body", 3, 6)


SAME_CODE = [
    "def f(x):\n    return [x,\n            '# 1']",
    'def f(x):\n    """Say what it does."""\n    return [x,\n            \'# 1\']',
    'def f(x):  # why\n    """In\n\n    lines.\n    """\n\n    # why\n    return [x,\n            \'# 1\']',
]


def test_comments_and_docstrings_are_no_code():
    assert {code_alone(text) for text in SAME_CODE} == {SAME_CODE[0]}


@pytest.mark.parametrize(
    "text",
    [
        "f = 2",
        'x = """a text"""',
        'f(\n    """a text"""\n)',
        "'a',\n'# b',",
        "    (1,\n    2",
        "if x:\n    y()\n  z()",
    ],
)
def test_everything_else_is_even_where_it_is_a_part(text):
    assert code_alone(text) == text


@pytest.mark.parametrize(
    ("name", "marker"),
    [("run.json", "// --8<-- [{}:a]"), ("run.plist", "<!-- -8<- [{}:a] -->")],
)
def test_json_and_property_lists_have_markers_of_their_own(plant, tmp_path, name, marker):
    text = f"{marker.format('start')}\none\n{marker.format('end')}\n"
    sections, defects = read(plant(f"snippets/{name}", text), tmp_path)
    assert defects == []
    assert sections["a"].text == "one"


def test_nested_sections_lose_their_markers(plant, tmp_path):
    path = plant(
        "snippets/run.sh",
        """
        # --8<-- [start:all]
        echo one
        # --8<-- [start:second]
        echo two
        # --8<-- [end:second]
        # --8<-- [end:all]
        """,
    )
    sections, defects = read(path, tmp_path)
    assert defects == []
    assert sections["all"].text == "echo one\necho two"
    assert sections["second"].text == "echo two"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# --8<-- [start:a]\nx = 1\n", "snippets/a.py:1: section 'a' is never closed"),
        ("x = 1\n# --8<-- [end:a]\n", "snippets/a.py:2: section 'a' ends but has not started"),
        ("# --8<-- [start:a]\n\n# --8<-- [end:a]\n", "snippets/a.py:1: section 'a' is empty"),
        (
            "# --8<-- [start:a]\n# --8<-- [start:b]\nx = 1\n# --8<-- [end:b]\n# --8<-- [end:a]\n"
            "# --8<-- [start:b]\nx = 2\n# --8<-- [end:b]\n",
            "snippets/a.py:6: section 'b' starts a second time",
        ),
        (
            "# --8<-- [start:a]\n# --8<-- [start:a]\nx = 1\n# --8<-- [end:a]\n",
            ":2: section 'a' starts a second time",
        ),
        ("x = 1  # --8<-- [start:a]\n", "snippets/a.py:1: not a section marker"),
        ("# --8<-- [begin:a]\n", "snippets/a.py:1: not a section marker"),
        ("# --8<-- [start:Names_of_uppercase]\n", "snippets/a.py:1: not a section marker"),
    ],
)
def test_planted_defects(plant, tmp_path, text, expected):
    _, defects = all_sections(plant("snippets/a.py", text).parent.parent)
    assert expected in defects[0]


def test_an_empty_section_of_only_nested_markers(plant, tmp_path):
    text = "# --8<-- [start:a]\n# --8<-- [start:b]\n# --8<-- [end:b]\n# --8<-- [end:a]\n"
    _, defects = read(plant("snippets/a.py", text), tmp_path)
    assert len(defects) == 2


def test_both_folders_and_both_kinds_of_files_are_read(plant, tmp_path):
    read = ("snippets/a.py", "snippets/shell/b.sh", "examples/c/d.py", "snippets/workflows/g.yml")
    for name in (*read, "docs/e.py", "snippets/f.txt"):
        plant(name, "# --8<-- [start:x]\ny\n# --8<-- [end:x]\n")
    sections, defects = all_sections(tmp_path)
    assert defects == []
    assert sorted(sections) == sorted(f"{name}:x" for name in read)
