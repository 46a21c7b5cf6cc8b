"""Replace `<!-- table: NAME -->` on a page with a table rendered from docs/data/.

Most tables are specifications in docs/data/tables/ (table_templates.py); what is no table of columns and
rows, or what scripts work with, is a module here. Written once, a table is the same in both languages.
"""

import os
import re
from collections.abc import Callable
from textwrap import indent

import claims
import decision_trees
import error_messages
import operator_finder
import operator_tables
import table_templates
import training_calculator
import verified_on
import version_picker
import wrong_results
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from rendering import TableError

MARKER = re.compile(r"^( *)<!-- table: ([\w-]+) -->$", re.MULTILINE)
LIKE_A_MARKER = re.compile(r"<!--\s*table\b.*?-->", re.DOTALL)  # readers would see nothing in its place

MODULES = (
    claims,
    decision_trees,
    error_messages,
    operator_finder,
    operator_tables,
    training_calculator,
    verified_on,
    version_picker,
    wrong_results,
)


def renderers() -> dict[str, Callable[[str], str]]:
    """Return what renders each table, by name: a function of the language ("en" or "zh")."""
    return table_templates.tables() | {
        name: render for module in MODULES for name, render in module.TABLES.items()
    }


def render(name: str, language: str) -> str:
    """Return the table `name` in `language` ("en" or "zh"). Raises KeyError for an unknown name."""
    return renderers()[name](language)


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put the tables in. Raises PluginError for a wrong marker, name or specification.

    What else a renderer raises ends the build, too: a defect in its code, so its traceback is kept.
    """
    language, where = os.environ.get("DOCS_LOCALE", "en"), page.file.src_uri
    try:
        known = renderers()
    except TableError as error:
        raise PluginError(str(error)) from error

    def replace(match: re.Match[str]) -> str:
        space, name = match.groups()
        if name not in known:
            raise PluginError(f"{where}: there is no table named {name!r}")
        try:
            return indent(known[name](language), space)
        except TableError as error:
            raise PluginError(f"{where}: {error}") from error
        except Exception as error:
            error.add_note(f"{where}: the table {name!r} could not be rendered")
            raise

    markdown = MARKER.sub(replace, markdown)
    if wrong := LIKE_A_MARKER.search(markdown):
        raise PluginError(f"{where}: {wrong[0]!r}: write `<!-- table: NAME -->`, alone on its line")
    return markdown
