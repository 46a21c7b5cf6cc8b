"""The hooks that render tables, and what holds for every table in both languages."""

import importlib
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

HOOKS = Path(__file__).resolve().parents[2] / "docs" / "hooks"


@pytest.fixture(scope="session")
def import_hook() -> Callable[[str], ModuleType]:
    """Return a function that imports a module of docs/hooks, which import each other by their bare names."""

    def load(name: str) -> ModuleType:
        sys.path.insert(0, str(HOOKS))
        try:
            return importlib.import_module(name)
        finally:
            sys.path.remove(str(HOOKS))

    return load


@pytest.fixture(scope="session")
def cifar_tables(import_hook: Callable[[str], ModuleType]) -> ModuleType:
    """Return the hook that renders the CIFAR example's results."""
    return import_hook("cifar_tables")


@pytest.fixture(scope="session")
def assert_same_shape_and_figures() -> Callable[[str, str], None]:
    """Return a function that compares the English and the Chinese text of a table."""

    def compare(english: str, chinese: str) -> None:
        figures = [re.findall(r"\d+(?:[.,]\d+)*", text) for text in (english, chinese)]
        assert sorted(figures[0]) == sorted(figures[1])
        assert len(figures[0]) > 4
        shapes = [[line.count("|") for line in text.splitlines()] for text in (english, chinese)]
        assert shapes[0] == shapes[1]
        assert len(set(shapes[0]) - {0}) == 1

    return compare
