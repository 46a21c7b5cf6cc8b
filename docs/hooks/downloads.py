"""Put the files to take home (tools/downloads.py) into the site, so that MkDocs checks links to them."""

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files

from tools.downloads import all_downloads
from tools.repository_passages import home_address


@event_priority(-200)  # after static-i18n, which runs at -100 and would make files of docs/ of them
def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the downloads: the same in both languages, whose home page is the English one."""
    for name, content in all_downloads(home_address(config.site_url)).items():
        files.append(File.generated(config, name, content=content))
    return files
