"""The files to take home: what is in them, and that they train where the repository is out of reach."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from examples.systems import SYSTEMS
from tools.checks.sections import all_sections
from tools.downloads import (
    PROJECT,
    ROOT,
    STARTER,
    TOOLS,
    all_downloads,
    page_address,
    project_files,
    requirements,
    single_file,
    system_files,
    unignored_files,
)

HOME = "https://example.org/handbook/"
PROGRAMS = [(system, program) for system in SYSTEMS for program in system.programs]
# The short tests train with these: one has this project's own loop, the other Lightning's.
SHORT = ("cifar_optimizers", "genomic_caduceus")
# Imports every module of a program's folder, then runs it as `python PROGRAM` does. Writes down which files
# of the repository were opened, and from where our modules came.
WATCHED = """
import importlib, json, os, runpy, sys
from pathlib import Path

repository, written, program, *words = sys.argv[1:]
opened = set()

def note(event, arguments):
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        path = Path(os.path.abspath(os.fsdecode(arguments[0])))
        if path.is_relative_to(repository) and not path.relative_to(repository).parts[0].startswith("."):
            opened.add(str(path))

sys.addaudithook(note)
sys.path.insert(0, str(Path.cwd()))
folder = Path(program).parent
for path in sorted(folder.glob("*.py")):
    if path.stem not in ("__init__", "single_file"):  # the single file needs nothing of ours
        importlib.import_module(".".join([*folder.parts, path.stem]))
sys.argv = [program, *words]
try:
    runpy.run_path(program, run_name="__main__")
finally:
    ours = {
        name: module.__file__
        for name, module in sys.modules.items()
        if name.partition(".")[0] in ("examples", "snippets")
    }
    Path(written).write_text(json.dumps({"opened": sorted(opened), "modules": ours}))
"""


@pytest.fixture(scope="module")
def downloads() -> dict[str, bytes]:
    """Return the content of every download by its address."""
    return all_downloads(HOME)


def unpack(content: bytes, folder: Path) -> Path:
    """Unpack a zip into a folder; return the one folder that it brought."""
    with zipfile.ZipFile(BytesIO(content)) as archive:
        archive.extractall(folder)
    (top,) = folder.iterdir()
    return top


@pytest.mark.slow
def test_every_system_and_every_single_file_is_offered(downloads):
    single_files = {
        f"{path.parent.name}/{path.name}" for path in (ROOT / "examples").glob("*/single_file.py")
    }
    expected = {f"{system.name}.zip" for system in SYSTEMS} | single_files
    expected |= {"check_setup.py", "first_run.py", "verify_mac.py", f"{PROJECT}.zip"}
    assert downloads.keys() == {f"downloads/{name}" for name in expected}


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_page_links_to_every_download(downloads, language):
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "docs" / language).rglob("*.md")]
    assert [name for name in downloads if not any(f"../{name})" in text for text in texts)] == []


@pytest.mark.slow
def test_equal_sources_give_equal_bytes(downloads):
    assert all_downloads(HOME) == downloads
    for name, content in downloads.items():
        if name.endswith(".zip"):
            entries = zipfile.ZipFile(BytesIO(content)).infolist()
            assert [entry.filename for entry in entries] == sorted(entry.filename for entry in entries)
            assert {entry.date_time for entry in entries} == {(2020, 1, 1, 0, 0, 0)}


@pytest.mark.program
@pytest.mark.parametrize(
    ("system", "program"),
    [
        pytest.param(
            *pair,
            id=f"{pair[0].name}-{pair[1].name}",
            marks=[] if pair[0].name in SHORT and pair[1] == pair[0].programs[-1] else pytest.mark.long,
        )
        for pair in PROGRAMS
    ],
)
def test_an_unpacked_system_trains_with_its_own_files_alone(downloads, system, program, tmp_path):
    top = unpack(downloads[f"downloads/{system.name}.zip"], tmp_path / "empty")
    words = program.words({**program.tiny, "device": "cpu", "out": "run"})
    written = tmp_path / "seen.json"
    script = f"examples/{system.name}/{program.name}.py"
    done = subprocess.run(
        [sys.executable, "-I", "-c", WATCHED, ROOT, written, script, *words],
        cwd=top,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    seen = json.loads(written.read_text(encoding="utf-8"))
    assert seen["opened"] == []
    assert f"examples.{system.name}.options" in seen["modules"]
    assert {name: path for name, path in seen["modules"].items() if not Path(path).is_relative_to(top)} == {}

    config = json.loads((top / "run/config.json").read_text(encoding="utf-8"))
    assert config["provenance"]["git_commit"] == (top / "COMMIT").read_text(encoding="utf-8").strip()
    assert json.loads((top / "run/heartbeat.json").read_text(encoding="utf-8"))["status"] == "finished"


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_system_download_has_all_that_it_needs(system):
    files = system_files(system, HOME, project_files(ROOT), ROOT)
    assert {"LICENSE", "README.md", "README.zh.md", "requirements.txt", STARTER} <= files.keys()
    assert files[STARTER][1] == 0o755
    start = (ROOT / f"snippets/shell/start_{system.name}.sh").read_text(encoding="utf-8")
    started = set(re.findall(r"examples/\w+/\w+\.py", start))
    assert started and started | {*TOOLS} <= files.keys()
    assert "faiss" not in files["requirements.txt"][0].decode()
    for name, language in {"README.md": "", "README.zh.md": "zh/"}.items():
        text = files[name][0].decode()
        address = f"<{HOME}{language}{system.pages[0].removesuffix('index.md')}>"
        assert address in text and "requirements.txt" in text
        scripts = [f"    python examples/{system.name}/{program.name}.py\n" for program in system.programs]
        assert "".join(scripts) in text
        about = files[f"examples/{system.name}/{name}"][0].decode()
        assert "](../" not in about  # leads out of the zip
        assert not re.search(r"\bmake [a-z]|\.venv|Makefile", about)  # are not in the zip
        commands = [line.split("#")[0].split() for line in about.split("```")[1].splitlines()[1:]]
        scripts = [next(word for word in words if word.startswith("examples/")) for words in commands]
        assert scripts and set(scripts) <= files.keys()


def test_requirements_are_the_ranges_that_the_project_states():
    lines = requirements({"torch", "sklearn", "talib"}, ROOT).splitlines()
    assert [line.partition(">")[0] for line in lines] == ["scikit-learn", "ta-lib", "torch", "torch"]
    stated = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert all(f'"{line}"' in stated for line in lines)
    with pytest.raises(LookupError, match="no line for tensorflow"):
        requirements({"torch", "tensorflow"}, ROOT)


def test_addresses_of_pages():
    assert page_address(HOME, "en", "examples/a/index.md") == f"{HOME}examples/a/"
    assert page_address(HOME, "zh", "start/first-run.md") == f"{HOME}zh/start/first-run/"


def test_single_files_are_saved_without_section_marks(downloads):
    for name, content in downloads.items():
        if name.endswith(".py"):
            source = (ROOT / "examples" / name.removeprefix("downloads/")).read_text(encoding="utf-8")
            lines = [line for line in source.splitlines(keepends=True) if "# --8<-- [" not in line]
            assert content.decode() == "".join(lines)
            compile(content, name, "exec")


def test_a_mark_within_a_line_stays(tmp_path):
    (tmp_path / "a.py").write_text('x = "# --8<-- [start:x]"\n    # --8<-- [end:x]\ny\n', encoding="utf-8")
    assert single_file(tmp_path / "a.py") == b'x = "# --8<-- [start:x]"\ny\n'


def test_project_download_holds_exactly_the_tracked_files(downloads, tmp_path):
    top = unpack(downloads[f"downloads/{PROJECT}.zip"], tmp_path)
    assert top.name == PROJECT
    tracked = project_files(ROOT)
    assert {"Makefile", "LICENSE", "examples/systems.py", "docs/en/index.md", ".gitignore"} <= set(tracked)
    for made in (".venv/bin/python", "site/index.html", "tools/__pycache__/a.pyc", "runs/a/config.json"):
        (top / made).parent.mkdir(parents=True, exist_ok=True)
        (top / made).touch()
    assert project_files(top) == tracked
    assert sorted(unignored_files(top)) == sorted([*tracked, "COMMIT"])


@pytest.mark.program
@pytest.mark.skipif(shutil.which("unzip") is None, reason="there is no unzip")
def test_the_command_of_the_page_unpacks_the_project(downloads, tmp_path):
    content = downloads[f"downloads/{PROJECT}.zip"]
    assert len(content) < 5_000_000  # start/first-run.md says so
    (tmp_path / f"{PROJECT}.zip").write_bytes(content)
    command = all_sections(ROOT)[0]["snippets/shell/unzip_the_handbook.sh:unzip"].text
    done = subprocess.run(
        ["bash", "-euc", f"{command}\nmake help"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "  train " in done.stdout
    assert os.access(tmp_path / PROJECT / "tools/environment.sh", os.X_OK)


def test_programs_can_still_be_executed_when_unpacked(downloads):
    entries = zipfile.ZipFile(BytesIO(downloads[f"downloads/{PROJECT}.zip"])).infolist()
    modes = {entry.filename: entry.external_attr >> 16 for entry in entries}
    assert modes[f"{PROJECT}/tools/environment.sh"] == 0o100755
    assert modes[f"{PROJECT}/README.md"] == 0o100644
