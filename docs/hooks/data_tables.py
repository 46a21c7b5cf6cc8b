"""Replace `<!-- table: NAME -->` on a page with a table rendered from docs/data/.

A table written once as data is the same in both languages, and what a test checks is what readers see.
"""

import os
import re
from collections.abc import Callable

import benchmark_table
import cifar_tables
import cost_tables
import coverage_table
import cuda_only_packages
import environment_variables
import error_messages
import floorplan_quality_tables
import floorplan_tables
import genomic_tables
import glossary_table
import indicator_bounds
import indicator_speed
import memory_tables
import operator_tables
import published_speeds
import search_tables
import shell_sections
import simulated_mps_tests
import time_and_cost
import training_calculator
import training_loop_tables
import two_tower_tables
import version_picker
import wrong_results
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

MARKER = re.compile(r"^<!-- table: ([\w-]+) -->$", re.MULTILINE)
LIKE_A_MARKER = re.compile(r"<!--\s*table\b.*?-->", re.DOTALL)  # readers would see nothing in its place

MODULES = (
    benchmark_table,
    cifar_tables,
    cost_tables,
    coverage_table,
    cuda_only_packages,
    environment_variables,
    error_messages,
    floorplan_quality_tables,
    floorplan_tables,
    genomic_tables,
    glossary_table,
    indicator_bounds,
    indicator_speed,
    memory_tables,
    operator_tables,
    published_speeds,
    search_tables,
    shell_sections,
    simulated_mps_tests,
    time_and_cost,
    training_calculator,
    training_loop_tables,
    two_tower_tables,
    version_picker,
    wrong_results,
)


def renderers() -> dict[str, Callable[[str], str]]:
    """Return what renders each table, by name: a function of the language ("en" or "zh")."""
    return {name: render for module in MODULES for name, render in module.TABLES.items()}


def render(name: str, language: str) -> str:
    """Return the table `name` in `language` ("en" or "zh"). Raises KeyError for an unknown name."""
    return renderers()[name](language)


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put the tables in. Raises PluginError for a wrong marker or name, and whatever a renderer raises.

    Both end the build. The second means a defect in the renderer or its data, so its traceback is kept.
    """
    language, known, where = os.environ.get("DOCS_LOCALE", "en"), renderers(), page.file.src_uri

    def replace(match: re.Match[str]) -> str:
        name = match[1]
        if name not in known:
            raise PluginError(f"{where}: there is no table named {name!r}")
        try:
            return known[name](language)
        except Exception as error:
            error.add_note(f"{where}: the table {name!r} could not be rendered")
            raise

    markdown = MARKER.sub(replace, markdown)
    if wrong := LIKE_A_MARKER.search(markdown):
        raise PluginError(f"{where}: {wrong[0]!r}: write `<!-- table: NAME -->`, alone on its line")
    return markdown
