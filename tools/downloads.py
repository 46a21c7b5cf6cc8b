"""The files to take home that the site offers.

Below its folder `downloads/` are:

    <system>.zip                 a training system: its folder, what it needs, requirements, licence
    <system>/single_file.py      the same training in one file, where a system has it
    check_setup.py, first_run.py, verify_mac.py
    mps-handbook.zip             the whole project

Equal sources give equal bytes. A zip has one folder at its top; a file COMMIT there names the commit.
"""

import io
import os
import re
import subprocess
import tomllib
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from pathspec import GitIgnoreSpec

from examples.programs.identity import NOTE, source_commit
from examples.programs.imports import PACKAGES
from examples.systems import SYSTEMS, System
from tools.checks.sections import is_marker
from tools.follow_imports import follow_imports

ROOT = Path(__file__).resolve().parent.parent
FOLDER = "downloads"
PROJECT = "mps-handbook"
SINGLE_FILES = (
    "check_setup.py",
    "first_run.py",
    "verify_mac.py",
)  # of examples/, beside those of the systems
TOOLS = ("examples/check_setup.py", "examples/benchmark.py", "examples/monitor.py")  # for every system
STARTER = "examples/start_run.sh"  # launchers of systems call it
OPTIONAL = {"faiss"}  # only an option imports it, which names the package that it needs
DATE = (2020, 1, 1, 0, 0, 0)  # of every file in a zip
README = {
    "README.md": """\
{title}

A training system of the MPS Handbook, for MPS, CUDA and the CPU. The first run downloads no data.

    python -m pip install -r requirements.txt
    python {programs}

With PyTorch 2.13 or newer at hand, start at once: the program names the packages that are missing.
`--help` lists the options; [more commands](examples/{system}/README.md). Keep `examples/` and `snippets/`
together. Pages about it: <{pages}>
""",
    "README.zh.md": """\
{title}

《MPS 训练手册》里的一套训练系统，可以在 MPS、CUDA 和 CPU 上运行。第一次运行不用下载数据。

    python -m pip install -r requirements.txt
    python {programs}

如果已经有 PyTorch 2.13 或更新的版本，可以直接运行，程序会指出还缺哪些软件包。
`--help` 列出全部选项，[更多命令](examples/{system}/README.zh.md)。`examples/` 和 `snippets/` 要放在一起。
相关页面：<{pages}>
""",
}
LANGUAGES = {"README.md": "en", "README.zh.md": "zh"}
PAGE_LINK = re.compile(r"(?:\.\./)+docs/(en|zh)/([\w/-]+\.md)")  # from a file of the project to a page


def all_downloads(site_url: str, root: Path = ROOT) -> dict[str, bytes]:
    """Return the content of every download, by its address below the site's home page at `site_url`."""
    tracked = project_files(root)
    names = [*SINGLE_FILES, *(f"{system.name}/single_file.py" for system in SYSTEMS)]
    files = {name: root / "examples" / name for name in names}
    contents = {name: single_file(path) for name, path in files.items() if path.is_file()}
    for system in SYSTEMS:
        contents[f"{system.name}.zip"] = zipped(system.name, system_files(system, site_url, tracked, root))
    contents[f"{PROJECT}.zip"] = zipped(PROJECT, with_commit(read_files(tracked, root), root))
    return {f"{FOLDER}/{name}": content for name, content in contents.items()}


def single_file(path: Path) -> bytes:
    """Return a file as readers save it: without the lines that mark sections for the pages."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if not is_marker(line.rstrip("\n"))).encode()


# ---- A training system ----


def system_files(
    system: System, site_url: str, tracked: Iterable[str], root: Path
) -> dict[str, tuple[bytes, int]]:
    """Return content and permissions of the files in a system's zip."""
    folder = f"examples/{system.name}/"
    own = [name for name in tracked if name.startswith(folder)]
    programs = [*(name for name in own if name.endswith(".py")), *system.beside]
    needs = follow_imports([*programs, *TOOLS], root)
    texts = {"requirements.txt": requirements(needs.packages - OPTIONAL, root)}
    for name, language in LANGUAGES.items():
        about = (root / folder / name).read_text(encoding="utf-8")
        texts[name] = README[name].format(
            title=about.partition("\n")[0],
            system=system.name,
            programs="\n    python ".join(f"{folder}{program.name}.py" for program in system.programs),
            pages=page_address(site_url, language, system.pages[0]),
        )
        texts[f"{folder}{name}"] = PAGE_LINK.sub(lambda link: page_address(site_url, *link.groups()), about)
    files = read_files({*own, *needs.files, STARTER, "LICENSE"}, root)
    return with_commit(files | {name: (text.encode(), 0o644) for name, text in texts.items()}, root)


def page_address(site_url: str, language: str, page: str) -> str:
    """Return the address of a page, given by its file below docs/<language>/."""
    folder = "" if language == "en" else f"{language}/"
    place = page.removesuffix(".md").removesuffix("index").rstrip("/")
    return f"{site_url}{folder}{place}/" if place else f"{site_url}{folder}"


def requirements(packages: Iterable[str], root: Path) -> str:
    """Return the lines of pyproject.toml's `examples` that ask for these top-level modules.

    Raises LookupError for a module that none of them brings.
    """
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    offered: dict[str, list[str]] = {}
    for line in project["optional-dependencies"]["examples"]:
        offered.setdefault(canonicalize_name(Requirement(line).name), []).append(line)
    wanted = sorted({canonicalize_name(PACKAGES.get(package, package)) for package in packages})
    missing = set(wanted) - offered.keys()
    if missing:
        raise LookupError(f"pyproject.toml, examples: no line for {', '.join(sorted(missing))}")
    return "".join(f"{line}\n" for name in wanted for line in offered[name])


# ---- The files of the project ----


def project_files(root: Path) -> list[str]:
    """Return the names of the project's files: what git tracks.

    Where git knows nothing of this folder, as in an unpacked zip, every file that .gitignore does not name.
    """
    command = ["git", "-c", "core.quotepath=off", "-C", str(root), "ls-files", "-z"]
    try:
        listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        listing = ""
    names = listing.split("\0") if listing else unignored_files(root)
    return sorted(name for name in names if name and name != NOTE and (root / name).is_file())


def unignored_files(root: Path) -> Iterator[str]:
    """Yield the files below `root` that .gitignore does not name, in any order."""
    ignored = GitIgnoreSpec.from_lines((root / ".gitignore").read_text(encoding="utf-8").splitlines())
    for folder, folders, names in os.walk(root):
        place = Path(folder).relative_to(root)
        folders[:] = [name for name in folders if not ignored.match_file(f"{(place / name).as_posix()}/")]
        found = ((place / name).as_posix() for name in names)
        yield from (name for name in found if not ignored.match_file(name))


def read_files(names: Iterable[str], root: Path) -> dict[str, tuple[bytes, int]]:
    """Return content and permissions of files: those of programs keep that they can be executed."""
    return {
        name: ((root / name).read_bytes(), 0o755 if (root / name).stat().st_mode & 0o100 else 0o644)
        for name in names
    }


def with_commit(files: dict[str, tuple[bytes, int]], root: Path) -> dict[str, tuple[bytes, int]]:
    """Return the files and the note of the commit, where it is known: programs write it into config.json."""
    commit = source_commit(root)
    return files | ({NOTE: (f"{commit}\n".encode(), 0o644)} if commit else {})


def zipped(top: str, files: Mapping[str, tuple[bytes, int]]) -> bytes:
    """Return a zip that unpacks into the folder `top`."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            content, permissions = files[name]
            entry = zipfile.ZipInfo(f"{top}/{name}", DATE)
            entry.create_system = 3  # Unix: so `unzip` sets the permissions
            entry.external_attr = (0o100000 | permissions) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return buffer.getvalue()
