"""Replace `<!-- table: NAME -->` on a page with a table rendered from docs/data/.

A table written once as data is the same in both languages, and what a test checks is what readers see.
"""

import os
import re

import benchmark_table
import checkpoint_cost
import coverage_table
import environment_variables
import glossary_table
import indicator_features
import indicator_speed
import memory_tables
import operator_tables
import published_speeds
import results_table
import simulated_mps_tests
import version_picker
import wrong_results
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

MARKER = re.compile(r"^<!-- table: ([\w-]+) -->$", re.MULTILINE)

TABLES = {
    "checkpoint-cost": checkpoint_cost.render,
    "coverage": coverage_table.render,
    "coverage-scripts": coverage_table.render_scripts,
    "glossary": glossary_table.render,
    "indicator-batches": indicator_speed.batches,
    "indicator-features": indicator_features.render,
    "indicator-sizes": indicator_speed.sizes,
    "releases": version_picker.render_releases,
    "simulated-mps-speed": simulated_mps_tests.render_speed,
    "simulated-mps-tests": simulated_mps_tests.render,
    "version-picker": version_picker.render,
    "wrong-results": wrong_results.render,
}

FAMILIES = {  # many tables from one module each
    "benchmark-": benchmark_table,
    "memory-": memory_tables,
    "operators-": operator_tables,
    "results-": results_table,
    "speeds-": published_speeds,
    "variables-": environment_variables,
}


def render(name: str, language: str) -> str:
    """Return the table `name` in `language` ("en" or "zh"). Raises KeyError for an unknown name."""
    for prefix, module in FAMILIES.items():
        if name.startswith(prefix):
            return module.render(name, language)
    return TABLES[name](language)


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put the tables in. Raises PluginError, which ends the build, for an unknown name."""
    language = os.environ.get("DOCS_LOCALE", "en")

    def replace(match: re.Match[str]) -> str:
        try:
            return render(match[1], language)
        except KeyError:
            raise PluginError(f"{page.file.src_uri}: there is no table named {match[1]!r}") from None

    return MARKER.sub(replace, markdown)
