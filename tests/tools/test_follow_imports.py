"""Which files and packages programs need."""

import pytest

from tools.follow_imports import follow_imports

FILES = {
    "tool/run.py": "import json\nimport tool.parts.first\n\ndef late():\n    from tool import second\n",
    "tool/__init__.py": "",
    "tool/parts/__init__.py": "from tool.parts.names import NAMES\n",
    "tool/parts/first.py": "from tool.parts import names, first  # a circle\n",
    "tool/parts/names.py": "NAMES = ()\n",
    "tool/second.py": "import numpy.fft\nfrom sklearn.datasets import load_digits\n",
    "tool/unused.py": "import pandas\n",
    "other/__init__.py": "",
}


@pytest.fixture
def root(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_imports_are_followed_through_packages_functions_and_circles(root):
    needs = follow_imports(["tool/run.py"], root)
    assert needs.files == FILES.keys() - {"tool/unused.py", "other/__init__.py"}
    assert needs.packages == {"numpy", "sklearn"}


def test_a_relative_import_is_named(root):
    (root / "tool/second.py").write_text("from .parts import first\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"second\.py:1: .*not a relative import"):
        follow_imports(["tool/run.py"], root)
