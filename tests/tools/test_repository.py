"""The repository itself: its top level, its workflows, and what no file in it may contain."""

import re
import subprocess
from pathlib import Path

import pytest

from examples.systems import SYSTEMS
from tests.examples.system_pieces import LISTS
from tools.follow_imports import imported_modules
from tools.read_yaml import read_yaml

ROOT = Path(__file__).resolve().parents[2]

TOP_LEVEL = {
    "README.md", "README.zh.md", "LICENSE", "CITATION.cff", "mkdocs.yml", "pyproject.toml", "Makefile",
    "docs", "snippets", "examples", "tools", "tests", "requirements", ".github", ".ci", ".gitignore",
}  # fmt: skip
MAX_BYTES = 500_000
BINARY = {".png", ".jpg", ".webp", ".ico", ".woff2", ".npz", ".gz"}

# Jobs get what they need and no more. Everything else of GitHub's token stays off.
GRANTS = {"contents": "read", "pages": "read"}
DEPLOYMENT_GRANTS = {"pages": "write", "id-token": "write"}
PUBLISHING_GRANTS = GRANTS | DEPLOYMENT_GRANTS  # a called workflow gets no more than the job that calls it
CALL_OF_PAGES = "$/.github/workflows/pages.yml"  # $ is this repository at the running commit

# Files that name five systems or more, besides the registry and the lists that a new system is added to by
# hand: tests/examples/system_pieces.py misses it there.
NAME_SYSTEMS = {
    "docs/data/readings.yaml": "the stamp of each reading of a page writes it",
    "docs/data/executed.txt": "the tests write it",
    "docs/data/results/training_loop.yaml": "the measurement writes it",
    "docs/data/results/several_processes.yaml": "each training has its own command",
    "docs/data/results/systems_on_h100.yaml": "each training has its own command",
    "tests/site/rendered_tables.md": "the tables, rendered",
    "docs/data/coverage.yaml": "what the source guides name",
    "docs/data/moved.yaml": "addresses that were once theirs",
    "docs/data/search/held_out.yaml": "questions that were asked once, to measure the search",
    "docs/data/search/tuning.yaml": "questions that were asked once, to tune the search",
    "docs/data/search/words.yaml": "other words for pages, which a page may do without",
    "tests/site/test_benchmark_tables.py": "what one page says of the measurements that it has",
    "tests/tools/mutants.yaml": "faults that were planted once",
    "tests/examples/test_processes.py": "how exactly several processes equal one, which differs by network",
    "docs/data/error_messages/training-systems.yaml": "what their programs print, with the cure",
    "docs/en/reference/error-messages/training-systems.md": "links to their pages about data",
    "docs/zh/reference/error-messages/training-systems.md": "links to their pages about data",
}

MINUTES = 60
MINUTES_OF = {"long.yml: tests": 120}

FORBIDDEN = {
    "a path of one person's machine": r"(?<![\w.~-])/(?:root|home/\w+|Users/\w+)/",
    "a package index other than PyTorch's": (
        r"(?i:index[-_]url|find[-_]links|trusted[-_]host)[\"'\s=:,]+(?!https://download\.pytorch\.org/)"
        r"(?:\w+:/)?/?[\w.-]*[./][\w./-]+"
    ),
    "the address of a package index": r"https?://(?!download\.pytorch\.org)[^\s\"')>]*/simple\b",
    "a file address": r"file://(?!\{|\.\.\.)/?\w",
    "unfinished work": r"\b(?:TODO|FIXME|XXX)\b(?!-)",
    "a key or token": r"\b(?:gh[pousr]_|hf_)[A-Za-z0-9]{20,}|\bAKIA[A-Z0-9]{16}\b|BEGIN [A-Z ]*PRIVATE KEY",
    "a conflict that was not resolved": r"^(?:<{7} |>{7} |={7}$)",
}


@pytest.fixture(scope="module")
def tracked() -> list[str]:
    """Return the names of all tracked files."""
    git = ["git", "-c", "core.quotepath=off", "-C", str(ROOT), "ls-files", "-z"]
    try:
        listing = subprocess.run(git, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git clone: nobody knows which files belong to the repository")
    names = [name for name in listing.split("\0") if name and (ROOT / name).exists()]
    assert names
    return names


def texts(names: list[str]) -> list[tuple[str, str]]:
    """Return name and text of each text file."""
    files = [name for name in names if Path(name).suffix not in BINARY]
    return [(name, (ROOT / name).read_text(encoding="utf-8")) for name in files]


def workflows() -> list[tuple[str, dict]]:
    """Return name and content of each workflow."""
    files = sorted((ROOT / ".github/workflows").glob("*.yml"))
    assert files
    return [(file.name, read_yaml(file)) for file in files]


def jobs() -> list[tuple[str, dict]]:
    """Return name and content of each job of each workflow, without those that call another workflow."""
    found = [(f"{file}: {name}", job) for file, flow in workflows() for name, job in flow["jobs"].items()]
    calls = [name for name, job in found if job.get("uses") == CALL_OF_PAGES]
    assert calls == ["linux.yml: publish"]
    return [(name, job) for name, job in found if name not in calls]


def test_the_top_level_is_the_documented_one(tracked):
    assert {name.split("/")[0] for name in tracked} == TOP_LEVEL


def test_files_have_telling_names_and_reasonable_sizes(tracked):
    vague = {"utils", "util", "common", "helpers", "helper", "misc"}
    assert [
        name for name in tracked if vague & {part.split(".")[0].lower() for part in Path(name).parts}
    ] == []
    assert [name for name in tracked if (ROOT / name).stat().st_size > MAX_BYTES] == []


def test_tests_are_named_in_at_most_nine_words(tracked):
    files = [name for name in tracked if name.startswith("tests/") and name.endswith(".py")]
    definition = re.compile(r"^ *(?:async )?def test_(\w+)\(", re.MULTILINE)
    found = [(file, name) for file, text in texts(files) for name in definition.findall(text)]
    assert len(found) > 1000
    assert [(file, name) for file, name in found if len(name.split("_")) > 9] == []


def test_scripts_can_be_executed(tracked):
    listing = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "--stage", ".ci/run", "tools/*.sh"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert len(listing) > 3
    assert [line for line in listing if not line.startswith("100755")] == []


@pytest.mark.slow
def test_few_files_name_all_systems(tracked):
    """What a new system has to be added to by hand, and what does not need it."""
    names = [re.compile(rf"\b{system.name.replace('_', '[-_]')}\b") for system in SYSTEMS]
    found = {name for name, text in texts(tracked) if sum(map(bool, (n.search(text) for n in names))) >= 5}
    by_hand = {"examples/systems.py", *LISTS}
    assert len(by_hand) <= 10
    known = by_hand | NAME_SYSTEMS.keys()
    assert not found - known, (
        f"{sorted(found - known)}: what is about one system belongs in its entry in examples/systems.py, or "
        "in tests/examples/<system>/cases.py; a list of all systems belongs in LISTS of system_pieces.py"
    )
    assert found == known


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_file_contains(tracked, what):
    pattern = re.compile(FORBIDDEN[what], re.MULTILINE)
    this_file = Path(__file__).relative_to(ROOT).as_posix()
    found = [
        f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {match.group()}"
        for name, text in texts(tracked)
        if name != this_file
        for match in pattern.finditer(text)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("what", "bad", "good"),
    [
        ("a path of one person's machine", "cd /home/jane/mps", "cd ~/mps; see https://x.org/home/a/b"),
        ("a path of one person's machine", '"/Users/jane/data"', "/Users and /home"),
        (
            "a package index other than PyTorch's",
            "pip install --index-url https://pypi.example.org/x torch",
            "pip install --index-url https://download.pytorch.org/whl/cpu torch",
        ),
        (
            "a package index other than PyTorch's",
            "find-links = /srv/wheels",
            "--no-emit-find-links --no-header",
        ),
        (
            "a package index other than PyTorch's",
            'PIP_INDEX_URL: "http://10.0.0.1/x"',
            '["--index-url", INDEX]',
        ),
        ("the address of a package index", "https://pypi.example.org/simple", "https://x.org/simplest"),
        ("a file address", "file:///srv/wheels", 'f"file://{path}"'),
        ("a key or token", "ghp_" + 36 * "a", "ghp_name"),
        ("unfinished work", "# TODO: finish", "methodology"),
        ("a conflict that was not resolved", "<<<<<<< HEAD", "< < <"),
    ],
)
def test_the_patterns_find_what_they_should(what, bad, good):
    pattern = re.compile(FORBIDDEN[what], re.MULTILINE)
    assert pattern.search(bad)
    assert not pattern.search(good)


def test_actions_are_pinned_to_commits_with_versions():
    lines = [
        (file.name, line.strip())
        for file in sorted((ROOT / ".github/workflows").glob("*.yml"))
        for line in file.read_text(encoding="utf-8").splitlines()
        if re.match(r"\s*(?:- )?uses:", line) and CALL_OF_PAGES not in line
    ]
    assert len(lines) >= 10
    pin = re.compile(r"(?:- )?uses: [\w.-]+/[\w./-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+$")
    assert [line for line in lines if not pin.match(line[1])] == []


def test_one_action_has_one_version():
    text = "".join(file.read_text(encoding="utf-8") for file in (ROOT / ".github/workflows").glob("*.yml"))
    pins = set(re.findall(r"uses: (\S+)@(\w+)", text))
    assert len(pins) == len({action for action, _ in pins}) >= 5


def test_workflows_get_no_permission_that_they_do_not_need():
    for name, flow in workflows():
        assert flow["permissions"] == {}, name
    for name, job in jobs():
        allowed = DEPLOYMENT_GRANTS if name == "pages.yml: deploy" else GRANTS
        assert job["permissions"].items() <= allowed.items(), name
        if "write" in job["permissions"].values():
            assert not any("run" in step or "checkout" in step.get("uses", "") for step in job["steps"]), name


def test_only_what_passed_everything_on_main_is_published():
    flows = dict(workflows())
    assert flows["pages.yml"][True].keys() == {"workflow_call"}  # nothing else starts it
    publishing = flows["linux.yml"]["jobs"]["publish"]
    assert publishing["uses"] == CALL_OF_PAGES
    # Without always() or the like, a job waits for those that it needs and is skipped unless all succeeded.
    assert set(publishing["needs"]) == flows["linux.yml"]["jobs"].keys() - {"publish"}
    assert publishing["if"] == "github.ref == 'refs/heads/main'"
    for name, job in jobs():
        assert not job.get("continue-on-error"), name  # else a failed job counts as a success
        for step in job["steps"]:
            assert not step.get("continue-on-error"), name
            assert name == "pages.yml: deploy" or "deploy-pages" not in step.get("uses", ""), name
            if name.startswith("pages.yml") and "checkout" in step.get("uses", ""):
                assert "ref" not in step["with"], name  # the commit that was tested


def test_what_publishes_may_do_what_its_jobs_need():
    # A called workflow with a job that needs more than the caller has does not start, and the caller neither.
    flows = dict(workflows())
    granted = flows["linux.yml"]["jobs"]["publish"]["permissions"]
    assert granted.items() <= PUBLISHING_GRANTS.items()
    for name, job in flows["pages.yml"]["jobs"].items():
        for what, level in job["permissions"].items():
            assert granted[what] in (level, "write"), name


def test_jobs_end_and_leave_no_credentials():
    for name, flow in workflows():
        assert "concurrency" in flow, name
        # YAML reads the key `on` as true. Both events run on what a fork wrote, with this repository's token.
        assert not {"pull_request_target", "workflow_run"} & set(flow[True]), name
        assert "secrets." not in (ROOT / ".github/workflows" / name).read_text(encoding="utf-8"), name
    for name, job in jobs():
        assert 0 < job["timeout-minutes"] <= MINUTES_OF.get(name, MINUTES), name
        for step in job["steps"]:
            if step.get("uses", "").startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False, name
            # Values reach the shell through variables, never as text of the program.
            assert "${{" not in step.get("run", ""), name


def test_workflows_call_commands_that_exist():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    called = set()
    for name, job in jobs():
        for step in job["steps"]:
            called.update(re.findall(r"\bmake ([a-z][a-z-]*)", step.get("run", "")))
            for script in re.findall(r"\btools/\w+\.\w+", step.get("run", "")):
                assert (ROOT / script).is_file(), f"{name}: {script}"
    assert {"lint", "site", "test", "test-long"} <= called <= targets


def test_lessons_import_lessons_and_libraries_alone():
    """What runs programs stands above them, and so does every training system."""
    lessons = sorted((ROOT / "snippets").rglob("*.py"))
    imported = {path.name: imported_modules(path.name, path.read_text(encoding="utf-8")) for path in lessons}
    above = ("examples", "tools", "tests")
    wrong = [(name, module) for name in imported for module in imported[name] if module.startswith(above)]
    assert wrong == []
    assert len(lessons) > 50
