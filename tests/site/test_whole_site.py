"""What plain `mkdocs` does: the whole site from anywhere, and one line where it cannot."""

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from mkdocs.exceptions import PluginError
from packaging.utils import canonicalize_name

from docs.hooks import whole_site
from tests.mkdocs_runs import ROOT, build_site, environment

pytestmark = [pytest.mark.program, pytest.mark.unmeasured]

MKDOCS = str(Path(sys.executable).with_name("mkdocs"))


def content(folder: Path) -> dict[str, bytes]:
    """Return every file of a site."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def built_elsewhere(root: Path, folder: Path, expected: Path, **variables: str) -> dict[str, bytes]:
    """Build the project at `root` from `folder`; return its files, which are those of the `expected` site."""
    command = [MKDOCS, "build", "--strict", "-f", str(root / "mkdocs.yml"), "-d", str(folder / "site")]
    done = subprocess.run(
        command, cwd=folder, env=environment(**variables), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    built, others = content(folder / "site"), content(expected)
    assert [name for name in built.keys() | others.keys() if built.get(name) != others.get(name)] == []
    return built


@pytest.mark.long
def test_the_command_from_another_folder_gives_the_same_bytes(site, tmp_path_factory):
    """Of the tiny project."""
    folder = tmp_path_factory.mktemp("elsewhere")
    build_site(folder / "here", site)
    assert {"index.html", "zh/index.html"} <= built_elsewhere(site, folder, folder / "here").keys()


@pytest.mark.long
def test_every_page_is_the_same_from_another_folder(built_site, site_url, tmp_path):
    built = built_elsewhere(ROOT, tmp_path, built_site, SITE_URL=site_url)
    assert {
        "index.html",
        "zh/index.html",
        "search/sections.json",
        "downloads/mps-handbook.zip",
    } <= built.keys()


def test_missing_package_is_one_line_with_its_command(site, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util as util\nfind = util.find_spec\n"
        "util.find_spec = lambda name, *rest: None if name == 'jieba' else find(name, *rest)\n"
    )
    done = subprocess.run(
        [MKDOCS, "build"], cwd=site, env=environment(PYTHONPATH=str(tmp_path)), capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "jieba is missing; run `python -m pip install -r requirements/site.txt`" in done.stderr


@pytest.mark.long
def test_the_packages_of_the_site_are_enough(site, tmp_path):
    """`make serve` installs no others."""
    names = {name: pinned(name) for name in ("site", "examples", "dev")}
    others = (names["examples"] | names["dev"]) - names["site"]
    modules = [
        module
        for module, packages in packages_distributions().items()
        if {canonicalize_name(package) for package in packages} <= others
    ]
    assert {"coverage", "pytest"} <= set(modules)
    (tmp_path / "sitecustomize.py").write_text(f"import sys\nsys.modules |= dict.fromkeys({modules})\n")
    done = subprocess.run(
        [MKDOCS, "build"], cwd=site, env=environment(PYTHONPATH=str(tmp_path)), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def pinned(name: str) -> set[str]:
    """Return the packages of a file of requirements."""
    text = (ROOT / f"requirements/{name}.txt").read_text(encoding="utf-8")
    return {canonicalize_name(found) for found in re.findall(r"^([\w.-]+)==", text, re.MULTILINE)}


@contextmanager
def served(site: Path, tmp_path: Path) -> Iterator[tuple[Callable[[str], str], Path, int]]:
    """Serve the tiny project until the end of the block; yield what gets a page, the log and the port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path / "log.txt"
    with log.open("w") as file:
        server = subprocess.Popen(
            [MKDOCS, "serve", "-a", f"127.0.0.1:{port}"], cwd=site, env=environment(), stderr=file
        )

    def get(page: str) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/{page}", timeout=60) as answer:
            return answer.read().decode()

    try:
        wait(lambda: "Serving on" in log.read_text(), log)
        yield get, log, port
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(60)


def wait(until: Callable[[], bool], log: Path) -> None:
    """Wait until something is so; after two minutes, fail with the log."""
    for _ in range(1200):
        if until():
            return
        time.sleep(0.1)
    pytest.fail(log.read_text())


def test_served_languages_are_rebuilt_after_changes(site, tmp_path):
    with served(site, tmp_path) as (get, log, port):
        assert 'DEVICE = "mps"' in re.sub("<.*?>", "", get("zh/guides/device/")).replace("&quot;", '"')
        code = site / "snippets/device.py"
        code.write_text(code.read_text().replace("mps", "cuda"), encoding="utf-8")
        for language in ("", "zh/"):
            wait(lambda language=language: "cuda" in get(f"{language}guides/device/"), log)
        refused = subprocess.run(
            [MKDOCS, "serve", "-a", f"127.0.0.1:{port}"],
            cwd=site, env=environment(), capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert refused.returncode == 1
        assert "Traceback" not in refused.stderr
        assert re.search(rf"ERROR .*127\.0\.0\.1:{port} cannot be used: .*PORT={port + 1}", refused.stderr)


@pytest.mark.long
def test_a_folder_inside_another_checkout_uses_its_own_modules(site, tmp_path):
    """The hooks' own folder decides, whatever another installation has put on the path."""
    other = tmp_path / "other"
    for package in ("tools", "snippets", "examples"):
        (other / package).mkdir(parents=True)
        (other / package / "__init__.py").write_text("raise SystemExit('the other one')", encoding="utf-8")
    path = os.pathsep.join([str(other), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [MKDOCS, "build", "-d", str(tmp_path / "site")],
        cwd=site, env=environment(PYTHONPATH=path), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


# ---- What a build does not delete ----


def build(site: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """Build the tiny project with other words of the command."""
    command = [MKDOCS, "build", *map(str, words)]
    return subprocess.run(command, cwd=site, env=environment(), capture_output=True, text=True, check=False)


@pytest.mark.parametrize("folder", ["runs", ".", "docs"])
def test_a_build_deletes_nothing_of_others(site, folder):
    (site / "runs/a").mkdir(parents=True)
    (site / "runs/a/config.json").write_text("{}")
    before = content(site.parent)
    done = build(site, "-d", folder)
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert "no site of this project" in done.stderr or "'docs_dir'" in done.stderr
    assert content(site.parent) == before


@pytest.mark.parametrize("folder", ["..", "runs", "runs/a/config.json", "link", "other"])
def test_folder_that_is_no_site_is_refused(tmp_path, folder):
    root = tmp_path / "root"
    for name in ("runs/a/config.json", "other/index.html", "other/sitemap.xml"):  # any site has these two
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("a year of work")
    (root / "link").symlink_to("runs")
    before = content(tmp_path)
    with pytest.raises(PluginError, match=r"^[^\n]*(holds files that are no site|cannot write a site to)"):
        whole_site.check_replaceable(root / folder)
    assert content(tmp_path) == before


@pytest.mark.long
def test_a_site_of_ours_is_replaced_finished_or_not(site, tmp_path):
    folder = tmp_path / "built"
    for name in (*whole_site.SITE, "old-page.html", "zh/old-page.html"):  # made before sites had a mark
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("an earlier build")
    page = site / "docs/en/index.md"
    good = page.read_text(encoding="utf-8")
    page.write_text(good + '\n--8<-- "snippets/none.py"\n', encoding="utf-8")
    assert build(site, "-d", folder).returncode == 1
    assert not (folder / "index.html").exists()
    page.write_text(good, encoding="utf-8")
    done = build(site, "-d", folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "zh/index.html").is_file()
    assert not [*folder.rglob("old-page.html"), *folder.rglob(".unfinished")]


# ---- While somebody writes ----


ADDRESSES = "/%00", "/" + "x" * 60_000, "/..%2f..%2f..%2fetc/passwd", "/../../etc/passwd", "/%ff", "//"


def kept_sites():
    """Return the copies of sites that servers keep while they build; one that was killed leaves its own."""
    return set(Path(tempfile.gettempdir()).glob("mkdocs_*_kept"))


@pytest.mark.long
def test_server_survives_broken_page_and_strange_address(site, tmp_path):
    page = site / "docs/en/guides/device.md"
    good = page.read_text(encoding="utf-8")
    before = kept_sites()
    with served(site, tmp_path) as (get, log, port):
        assert "Choose the device" in get("guides/device/")
        time.sleep(1)  # MkDocs looks at all files once, and then twice a second at what has changed
        page.write_text(good + '\n--8<-- "snippets/none.py"\n', encoding="utf-8")
        wait(lambda: "the site was not made again" in log.read_text(), log)
        assert "Traceback" not in log.read_text()
        assert "Choose the device" in get("guides/device/") and "设备" in get("zh/guides/device/")
        for address in ADDRESSES:
            with socket.create_connection(("127.0.0.1", port), 60) as client:
                client.sendall(f"GET {address} HTTP/1.0\r\n\r\n".encode())
                answer = client.makefile("rb").read()
            assert b"root:" not in answer
            assert re.match(rb"HTTP/1.0 (404|414|500|302|200) ", answer), (address, answer[:99])
        page.write_text(good + "\nMended.\n", encoding="utf-8")
        wait(lambda: "Mended." in get("guides/device/"), log)
    assert kept_sites() <= before
