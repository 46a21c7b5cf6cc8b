"""Where variables can be set: the shown files are what their programs read, and the values arrive."""

import json
import os
import plistlib
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import yaml
from IPython.core.magics.osm import OSMagics
from origins import DATA, load

from snippets.launch_agent import launch_agent
from tools.checks.sections import parse_sections

ROOT = Path(__file__).resolve().parents[2]
FILES = ROOT / "snippets/environment"
WORKFLOW = ROOT / "snippets/workflows/environment_variables.yml"
FALLBACK = "PYTORCH_ENABLE_MPS_FALLBACK"
KNOWN = {entry["name"] for entry in load("environment_variables", DATA)}


def shown(path, name):
    """Return what pages show of a file."""
    sections, defects = parse_sections(path, ROOT)
    assert not defects
    return next(section.text for section in sections if section.name == name)


def strings(variables):
    """Whether names and values are strings and each name is one that the page lists."""
    return all(isinstance(value, str) and name in KNOWN for name, value in variables.items())


# ---- Files of editors, of launchd and of a workflow ----


def test_vs_code_gets_a_configuration_with_the_variable():
    (configuration,) = json.loads(shown(FILES / "launch.json", "launch"))["configurations"]
    assert configuration.keys() >= {"name", "type", "request", "program"}
    assert configuration["env"] == {FALLBACK: "1"}


def test_vs_code_terminals_get_variable_and_env_file():
    settings = json.loads(shown(FILES / "settings.json", "terminal"))
    assert settings["terminal.integrated.env.osx"] == {FALLBACK: "1"}
    assert settings["python.terminal.useEnvFile"] is True
    assert settings["python.envFile"].endswith("/.env")


def test_written_agent_equals_the_shown_one(monkeypatch, tmp_path):
    for name in [name for name in os.environ if name.startswith("PYTORCH_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv(FALLBACK, "1")
    monkeypatch.setenv("OTHER", "1")
    written = launch_agent("local.night", Path("runs/night"), ["train.py"], tmp_path)
    sample = plistlib.loads((FILES / "agent.plist").read_bytes())
    assert written["EnvironmentVariables"] == sample["EnvironmentVariables"] == {FALLBACK: "1"}
    assert plistlib.loads(f"<plist><dict>{shown(FILES / 'agent.plist', 'variables')}</dict></plist>".encode())


def test_workflow_sets_strings_for_job_and_step():
    text = WORKFLOW.read_text(encoding="utf-8")
    job = yaml.safe_load(text)["jobs"]["mac"]
    scopes = [job["env"], *(step["env"] for step in job["steps"] if "env" in step)]
    assert len(scopes) == 2 and all(map(strings, scopes))
    assert yaml.safe_load(text)["permissions"] == {} and job["permissions"] == {"contents": "read"}
    recipe = (ROOT / "snippets/workflows/test_mps.yml").read_text(encoding="utf-8")
    pinned = re.findall(r"uses: (\S+@[0-9a-f]{40})", text)
    assert len(pinned) == text.count("uses:") == 2 and all(action in recipe for action in pinned)


# ---- Shells ----


def in_bash(section, home, file="environment_variables"):
    """Run what a page shows in bash, with `home` as home and with a Python; return what it printed."""
    command = shown(ROOT / f"snippets/shell/{file}.sh", section)
    search = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    done = subprocess.run(
        ["bash", "-eu", "-c", command],
        cwd=home,
        env={"PATH": search, "HOME": str(home)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.mark.program
def test_shell_variables_reach_one_command_and_the_session(tmp_path):
    assert in_bash("one_command", tmp_path) == "1\n"
    assert in_bash("session", tmp_path) == f"{FALLBACK}=1\n"


@pytest.mark.program
def test_a_line_of_the_profile_is_added_and_found(tmp_path):
    for name in (".zshenv", ".zprofile", ".zshrc", ".zlogin"):
        (tmp_path / name).write_text("# mine\n", encoding="utf-8")
    in_bash("profile", tmp_path, "environment_variables_mac")
    line = f"export {FALLBACK}=1"
    assert (tmp_path / ".zprofile").read_text(encoding="utf-8") == f"# mine\n{line}\n"
    found = in_bash("which_file", tmp_path, "environment_variables_mac")
    assert found == f"{tmp_path / '.zprofile'}:2:{line}\n"


# ---- Notebooks ----


def test_the_cell_sets_the_variable_before_pytorch_is_imported(tmp_path, monkeypatch):
    (tmp_path / "torch.py").write_text(f"import os\nSEEN = os.environ.get({FALLBACK!r})\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "torch")
    monkeypatch.setenv(FALLBACK, "before")
    assert runpy.run_path(str(FILES / "notebook.py"))["torch"].SEEN == "1"


def test_notebook_cell_fails_after_pytorch_is_imported(monkeypatch):
    assert torch.__name__ in sys.modules
    monkeypatch.setenv(FALLBACK, "before")
    with pytest.raises(RuntimeError, match="restart the kernel"):
        runpy.run_path(str(FILES / "notebook.py"))
    assert os.environ[FALLBACK] == "before"


def test_the_magic_keeps_quotes_as_part_of_the_value(monkeypatch):
    monkeypatch.setenv(FALLBACK, "before")
    OSMagics().set_env(f"{FALLBACK}=1")
    assert os.environ[FALLBACK] == "1"
    OSMagics().set_env(f'{FALLBACK}="0"')
    assert os.environ[FALLBACK] == '"0"', "which is not 0, so it would turn the fallback on"


# ---- Did it arrive? ----


@pytest.mark.parametrize("imported", [False, True])
def test_what_arrived_is_printed(monkeypatch, capsys, imported):
    for name in list(os.environ):
        if name.startswith(("PYTORCH_", "TORCH", "MTL_", "OMP_", "MKL_", "KMP_", "DISABLE_MPS")):
            monkeypatch.delenv(name)
    for name in KNOWN:
        monkeypatch.setenv(name, "1 ")
    if not imported:
        monkeypatch.delitem(sys.modules, "torch")
    runpy.run_path(str(FILES / "arrived.py"))
    lines = [f"{name}='1 '" for name in sorted(KNOWN)]
    assert capsys.readouterr().out.splitlines() == [*lines, f"torch is already imported: {imported}"]
