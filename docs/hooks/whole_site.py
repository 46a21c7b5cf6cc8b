"""Let plain `mkdocs build` and `mkdocs serve` make the whole site: English, and Chinese in its folder `zh/`.

A build without DOCS_LOCALE in the environment builds English and then, from within, Chinese; with it, that
language alone. Before and after, the two languages and the addresses in the built pages are checked: each
defect is a warning of MkDocs, which `--strict` turns into a failure.

This hook is the first in mkdocs.yml: it makes the project's own packages importable, from wherever MkDocs was
started, before the other hooks ask for them.
"""

import os
import shutil
import socket
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.config.base import ValidationError
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.livereload import LiveReloadServer
from mkdocs.plugins import event_priority, get_plugin_logger

ROOT = Path(__file__).resolve().parents[2]
NEEDED = ("bs4", "jieba", "packaging", "yaml")  # what hooks import beside MkDocs, its theme and its plugins
LOCALE = "DOCS_LOCALE"
UNFINISHED = ".unfinished"  # in a site while it is made; MkDocs lets hidden files be
SITE = "index.html", "sitemap.xml", "search/sections.json"  # the last is made by no other project

if missing := [name for name in NEEDED if find_spec(name) is None]:
    raise ValidationError(
        f"{', '.join(missing)} is missing; run `python -m pip install -r requirements/site.txt`"
    )

# MkDocs takes the path away again after this file. Packages that are imported keep their folder.
sys.path.insert(0, str(ROOT))
import content_policy  # noqa: E402

import examples  # noqa: E402, F401
import snippets  # noqa: E402, F401
from tools.checks import parity, site_addresses  # noqa: E402

log = get_plugin_logger("whole site")
serving = has_port = False


def on_startup(command: str, dirty: bool) -> None:
    """Note whether MkDocs builds or serves."""
    global serving
    serving = command == "serve"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Before the first page is built to be served, find out whether the port is free. Raises PluginError."""
    global has_port
    if serving and not has_port:
        has_port = True  # from now on it is this server
        with socket.socket() as free:
            free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                free.bind(tuple(config.dev_addr))
            except OSError as error:
                host, port = config.dev_addr
                raise PluginError(
                    f"{host}:{port} cannot be used: {error.strerror}; "
                    f"try `mkdocs serve -a {host}:{port + 1}` or `make serve PORT={port + 1}`"
                ) from None
    return config


def on_pre_build(config: MkDocsConfig) -> None:
    """Before MkDocs empties the site's folder, see what it is; then make ready. Raises PluginError.

    What an earlier build of this process has read is forgotten, and the two languages are compared.
    """
    check_replaceable(Path(config.site_dir))
    for module in list(sys.modules.values()):
        if str(getattr(module, "__file__", None)).startswith(str(ROOT)):
            for value in list(vars(module).values()):
                getattr(value, "cache_clear", lambda: None)()
    if LOCALE not in os.environ:
        for defect in parity.check(Path(config.config_file_path).parent).defects:
            log.warning(defect)


def check_replaceable(folder: Path) -> None:
    """Mark `folder` as a site that is being made. Raises PluginError when it holds anything but a site."""
    known = (folder / UNFINISHED).is_file() or all((folder / name).is_file() for name in SITE)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not known and any(not path.name.startswith(".") for path in folder.iterdir()):
            raise PluginError(
                f"{folder} holds files that are no site of this project, and a build deletes what it finds "
                "there; choose a new folder, or remove this one yourself"
            )
        (folder / UNFINISHED).touch()
    except OSError as error:
        raise PluginError(f"cannot write a site to {folder}: {error.strerror}; choose another") from None


@event_priority(-1000)  # after all plugins and hooks, which write their files at the end of a build, too
def on_post_build(config: MkDocsConfig) -> None:
    """Tidy one language; after English build Chinese, and check the whole."""
    folder = Path(config.site_dir)
    (folder / UNFINISHED).unlink()
    (folder / "sitemap.xml.gz").unlink()  # carries the time of the build: no two builds would be equal
    if LOCALE in os.environ:
        return
    build_chinese(config)
    # Servers look for these two at the root alone, where each is for both languages.
    (folder / "zh/404.html").unlink()
    sitemaps = "".join(f"Sitemap: {config.site_url}{place}sitemap.xml\n" for place in ("", "zh/"))
    (folder / "robots.txt").write_text(f"User-agent: *\nAllow: /\n\n{sitemaps}", encoding="utf-8")
    if not serving:  # MkDocs puts a script into each page that it serves
        content_policy.write_policy(folder)
    for defect in site_addresses.check(folder, config.site_url):
        log.warning(defect)


def build_chinese(config: MkDocsConfig) -> None:
    """Build Chinese as English was built. Raises Abort when it fails."""
    os.environ[LOCALE] = "zh"
    try:
        build(
            load_config(
                config.config_file_path,
                site_dir=str(Path(config.site_dir, "zh")),
                site_url=f"{config.site_url}zh/",
                strict=config.strict,
                use_directory_urls=config.use_directory_urls,
            )
        )
    finally:
        del os.environ[LOCALE]


def on_serve(server: LiveReloadServer, config: MkDocsConfig, builder: Callable[[], None]) -> LiveReloadServer:
    """Serve the last good site while a page is broken."""
    folder = Path(config.site_dir)
    kept = folder.with_name(f"{folder.name}_kept")

    def build_or_keep() -> None:
        folder.rename(kept)
        replaced = False
        try:
            builder()
            replaced = True
        except (Exception, SystemExit) as error:  # of MkDocs, a plugin or a template
            reported = isinstance(error, SystemExit)
            cause = "see above" if reported else f"{type(error).__name__}: {' '.join(str(error).split())}"
            log.error(f"the site was not made again and stays as it was; {cause}")
        finally:
            shutil.rmtree(kept if replaced else folder, ignore_errors=True)
            if not replaced:
                kept.rename(folder)

    server.builder = build_or_keep
    return server
