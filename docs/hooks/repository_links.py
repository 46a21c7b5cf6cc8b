"""Edit and source links, only when the repository's address is known (environment variable REPO_URL).

MkDocs' own `repo_url` stays empty: with it the theme asks GitHub's API for stars and forks, and this
site makes no request to other hosts. An absolute `edit_uri` works without it.
"""

from mkdocs.config.defaults import MkDocsConfig


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Set `edit_uri` and `extra.source_url` from `extra.repo_url` (GitHub's address layout)."""
    repository = (config.extra.get("repo_url") or "").rstrip("/")
    if repository:
        config.edit_uri = f"{repository}/edit/main/docs/"
        config.extra["source_url"] = f"{repository}/blob/main/"
    return config
