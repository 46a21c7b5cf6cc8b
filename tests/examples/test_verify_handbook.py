"""verify_handbook.py: its plan, its steps with planted faults, going on after Ctrl-C, and its report."""

import json
import math
import os
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from examples import verify_handbook, verify_mac
from examples.verifying import blocks, claims, messages, plan, recipes, report, steps, systems
from examples.verifying.steps import Place, Step
from snippets.errors import exit_with_one_line
from tools import ranges
from tools.checks.mac_steps import wrong_step, wrong_steps
from tools.checks.sections import all_sections
from tools.checks.shell_snippets import FOLDER, run_mark
from tools.read_yaml import read_yaml

ROOT = Path(verify_handbook.__file__).resolve().parents[1]
SCRIPT = Path(verify_handbook.__file__)
MAC = Place("mps", "Darwin", "2.15", cuda=False)
LINUX = Place("cpu", "Linux", "2.15", cuda=False)
NAMES = {"recipe": "snippets/recipes/device.py", "system": "cifar_optimizers: losses"}


def faults(one):
    """Return what the site's loader finds wrong with a step, besides its name."""
    return list(wrong_step(one | {"name": NAMES[one["kind"]]}))


# ---- The plan ----


@pytest.mark.parametrize("place", [MAC, LINUX], ids=["mac", "linux"])
def test_the_plan_ends_within_ten_minutes(place):
    planned = {part: list(known.steps(place)) for part, known in plan.PARTS.items()}
    shares = sum(plan.share(part, full=False) for part in plan.PARTS)
    assert shares + plan.LEAST <= 600
    lines = list(plan.plan_lines(place, list(plan.PARTS), planned))
    assert f"{shares} s" in lines[-3] and "estimates" in lines[-2]
    names = [step.key for steps_of in planned.values() for step in steps_of]
    assert len(names) == len(set(names)) > 150
    assert sum(step.seconds for step in planned["blocks"] if place is LINUX) == 0


def test_a_mac_is_asked_for_most():
    tried = {part: [step for step in known.steps(MAC) if not step.why] for part, known in plan.PARTS.items()}
    assert len(tried["recipes"]) == len(recipes.RECIPES)
    assert len(tried["blocks"]) >= 15 and len(tried["messages"]) >= 30 and len(tried["claims"]) >= 50
    assert [step.name for step in tried["benchmark"]] == ["cpu", "mps", "mps+bf16", "mps+bf16+compile"]
    assert len(tried["systems"]) == 6
    assert "mac" in claims.steps(MAC).__next__().run.args[0]["check"]
    full = [step for step in claims.steps(replace(MAC, full=True)) if not step.why]
    assert len(full) > len(tried["claims"])


def test_every_block_is_tried_or_has_a_reason():
    sections = all_sections(ROOT)[0]
    own = {
        key
        for key in sections
        if key.startswith(f"{FOLDER}/") and run_mark(ROOT / key.partition(":")[0]).kind == "macOS only"
    }
    found = {step.name: step for step in blocks.steps(MAC)}
    assert own - found.keys() == {key for key in own if blocks.ITSELF in key}
    assert found.keys() <= own and {f"{FOLDER}/{key}" for key in blocks.BLOCKS} <= found.keys()
    told = {name.rpartition("/")[2]: step.why for name, step in found.items()}
    assert told["long_runs_mac.sh:powermetrics"] == "it asks for a password"
    assert told["environment_variables_mac.sh:profile"] == "it reads or changes files of yours"
    for key in blocks.BLOCKS:  # what would leave the scratch folder
        text = sections[f"{FOLDER}/{key}"].text
        assert not re.search(r"sudo|~/|launchctl|\bmv\b|\brm\b|>\s*/", text), key


def test_every_message_is_one_of_the_reference():
    known = {one["id"]: one for file in ranges.MESSAGES.glob("*.yaml") for one in read_yaml(file)["messages"]}
    for name in messages.CAUSES:
        (first, *_), message = ranges.texts(known[name]), known[name]
        assert messages.fits(first, message, f"Traceback\n{first}\n"), name
        assert not messages.fits(first, message, "RuntimeError: out of luck"), name


# ---- Steps ----


def step(run, **more):
    return Step("recipe", "a", 1, run, **more)


def shell(command, outcome="ran"):
    """Return a step's function that runs a command of the shell."""

    def run(seconds):
        with steps.scratch() as (folder, environment):
            code, _ = steps.finish(command, folder, seconds, environment)
        return {"outcome": outcome if code == 0 else "failed"}

    return run


@pytest.mark.program
@pytest.mark.parametrize(
    ("command", "outcome"),
    [
        ("true", "ran"),
        ("false", "failed"),
        ("kill -SEGV $$", "ended the process"),
        ("sh -c 'kill -ABRT $$'", "ended the process"),
        ("sleep 60 & sleep 60", "hung"),
        ("sleep 60 &", "hung"),  # what it leaves behind keeps the output open
    ],
)
def test_whatever_a_process_does_is_a_result(command, outcome):
    found = step(shell(command), limit=1.5).attempt(99)
    assert (found["outcome"], found["kind"], found["name"]) == (outcome, "recipe", "a")
    assert found["seconds"] < 10 and faults(report.clean(found)) == []


@pytest.mark.program
def test_without_time_a_step_is_not_tried():
    slow = step(shell("sleep 60"), limit=60)
    assert [slow.attempt(left)["why"] for left in (-3, 1.2)] == ["out of time"] * 2
    assert step(shell("true"), why="no reason").attempt(99)["why"] == "no reason"


@pytest.mark.program
def test_recipes_that_fail_or_print_something_else(tmp_path):
    def found(name, text):
        path = tmp_path / f"{name}.py"
        path.write_text(text, encoding="utf-8")
        return recipes.run_recipe(path, False, 30)

    assert found("device", "print('device: cuda\\ncomputed on: cuda')") == {"outcome": "ran"}
    assert found("device", "print('device: gpu')")["found"].startswith("line 1: recorded")
    assert found("device", "1 / 0")["found"] == "exit code 1: ZeroDivisionError: division by zero"
    assert found("device", "import no_such")["why"] == "no_such is not installed here"


@pytest.mark.program
def test_blocks_are_compared_with_the_page():
    block = blocks.Block(prints="^1$", code=3)
    assert blocks.run_block("ls snippets/device.py\necho 1; exit 3", block, 30) == {"outcome": "ran"}
    found = blocks.run_block("echo 2", block, 30)
    assert found == {
        "outcome": "failed",
        "expected": "exit code 3, printing '^1$'",
        "found": "exit code 0: 2",
    }


@pytest.mark.program
def test_claims_are_checked(monkeypatch):
    def found(command, seconds=30.0):
        return claims.run_claim({"check": {"command": command, "expect": "^1$"}}, seconds)

    assert found("echo 1") == {"outcome": "holds"}
    assert found("echo 2")["outcome"] == "does not hold" and found("echo 2")["expected"] == "^1$"
    assert found("sleep 60", 0.3)["outcome"] == "hung"
    assert "is not installed here" in found("python -c 'import no_such'")["why"]


@pytest.mark.program
def test_messages_are_compared_with_the_wordings(monkeypatch):
    monkeypatch.setattr(messages, "IMPORTS", "")  # PyTorch takes seconds
    message = {"id": "x-y", "text": "ValueError: 3 is wrong", "search": ["is wrong"]}
    as_said, other = (messages.Cause(f"raise {name}('4 is wrong')") for name in ("ValueError", "TypeError"))
    assert messages.run_message(message, as_said, "2.99", 30) == {"outcome": "as said"}
    found = messages.run_message(message, other, "2.99", 30)
    assert (found["outcome"], found["found"]) == ("differs", "TypeError: 4 is wrong")


LOSSES = {step: 2.0 - 0.02 * step for step in range(1, 31)}


@pytest.mark.parametrize(
    ("planted", "exact", "outcome"),
    [
        ({}, 3, "as said"),
        ({2: 1.9602}, 3, "as said"),  # off by 1e-4
        ({2: 1.97}, 3, "differs"),  # by 5e-3
        ({20: 1.61}, 3, "as said"),  # a ResNet may
        ({20: 1.61}, 30, "differs"),  # the transformer may not
        (dict.fromkeys(range(15, 31), 1.9), 3, "differs"),  # it does not learn
        ({30: math.nan}, 3, "differs"),
    ],
)
def test_other_losses_differ(planted, exact, outcome):
    found = systems.compared(LOSSES, LOSSES | planted, exact)
    assert found["outcome"] == outcome and faults({**SYSTEM, **found}) == []
    assert found["figures"]["bit-equal"] == ("no" if planted else "yes")


def test_lost_steps_differ():
    assert systems.compared(LOSSES, {1: 1.98}, 3)["outcome"] == "differs"


SYSTEM = {"kind": "system", "name": "a: losses on MPS and CPU", "seconds": 1.0, "outcome": "as said"}
TINY = systems.System(
    "indicator_transformer", ["--bars", "3000", "--stride", "8", "--batch-size", "16"], 6, 6
)


@pytest.mark.long
@pytest.mark.program
def test_a_training_that_is_stopped_and_resumed(one_thread):
    found = systems.run_resumed(TINY, "cpu", 120)
    assert found["outcome"] == "as said" and found["figures"]["bit-equal"] == "yes"
    assert found["figures"]["steps"] == 6


@pytest.mark.long
@pytest.mark.program
def test_a_training_that_fails():
    broken = TINY._replace(words=["--bars", "-1"])
    found = systems.run_resumed(broken, "cpu", 60)
    assert found["outcome"] == "differs" and "--bars" in found["found"]


# ---- The command ----


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Return a function that puts steps in place of all parts, and the list of those that were run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(verify_handbook, "source_commit", lambda root: "0123456789abcdef")
    ran = []

    def put(**functions):
        def noted(name, function):
            def run(seconds):
                ran.append(name)
                return function(seconds)

            return run

        made = [Step("claim", name, 1, noted(name, function)) for name, function in functions.items()]
        for part in list(plan.PARTS):
            monkeypatch.delitem(plan.PARTS, part)
        monkeypatch.setitem(plan.PARTS, "claims", plan.Part(60, 60, lambda place: iter(made)))
        return ran

    return put


def holds(seconds):
    return {"outcome": "holds"}


def call(*words):
    return exit_with_one_line(verify_handbook.main, ["--device", "cpu", *words])


def written():
    return json.loads(Path("verify-mac.json").read_text(encoding="utf-8"))


def test_ctrl_c_and_the_same_command_again(fake, capsys):
    def interrupted(seconds):
        if ran.count("b") == 1:
            signal.raise_signal(signal.SIGINT)
        return {"outcome": "holds"}

    ran = fake(a=holds, b=interrupted, c=holds)
    assert call() == 130
    assert [one["name"] for one in written()["handbook"]["steps"]] == ["a"]
    assert not written()["handbook"]["complete"] and "1 of 3 planned steps" in capsys.readouterr().out
    assert call() == 0
    assert ran == ["a", "b", "b", "c"] and "going on: 1 steps are finished" in capsys.readouterr().out
    assert [one["name"] for one in written()["handbook"]["steps"]] == ["a", "b", "c"]
    assert call() == 0 and ran == ["a", "b", "b", "c"]
    assert call("--again") == 0 and ran[4:] == ["a", "b", "c"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.program
def test_ctrl_c_ends_the_process_of_the_step(fake, tmp_path):
    fake(a=shell(f"echo $$ > {tmp_path}/pid; sleep 60"))

    def stop_when_it_runs():
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=stop_when_it_runs, daemon=True).start()
    assert call() == 130
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_out_of_time_is_tried_by_the_next_call(fake, monkeypatch, capsys):
    ran = fake(a=holds, b=holds)
    monkeypatch.setattr(verify_handbook, "share", lambda part, full: 0)
    assert call() == 0 and ran == []
    assert not written()["handbook"]["complete"]
    assert [one["why"] for one in written()["handbook"]["steps"]] == ["out of time"] * 2
    assert "0 of 2 planned steps" in capsys.readouterr().out
    monkeypatch.undo()


@pytest.mark.parametrize("changed", ["commit", "torch", "python"])
def test_another_version_starts_anew(fake, monkeypatch, capsys, changed):
    ran = fake(a=holds)
    assert call() == 0
    real = verify_handbook.identity
    monkeypatch.setattr(verify_handbook, "identity", lambda *a: real(*a) | {changed: "other"})
    assert call() == 0
    assert ran == ["a", "a"] and f"starting anew: other than last time: {changed}" in capsys.readouterr().out


def test_a_line_that_was_cut_off_is_tried_again(fake, tmp_path):
    ran = fake(a=holds, b=holds)
    assert call() == 0
    file = tmp_path / "runs/verify-mac/steps.jsonl"
    file.write_text(file.read_text()[:-9])
    assert call() == 0
    assert ran == ["a", "b", "b"]
    assert [json.loads(line).get("name") for line in file.read_text().splitlines()] == [None, "a", "b"]


def test_the_report_begins_with_what_is_wrong(fake, tmp_path, capsys):
    bad = {"outcome": "does not hold", "expected": "^1$", "found": f"2 in {Path.home()}/erika/x.py\nat last"}
    fake(a=holds, b=lambda seconds: bad, c=holds)
    assert call("--language", "zh") == 0
    printed = capsys.readouterr().out
    english, chinese = (
        (tmp_path / f"runs/verify-mac/report.{language}.md").read_text(encoding="utf-8").splitlines()
        for language in ("en", "zh")
    )
    assert english[1:3] == [
        "The handbook differs from this machine in 1 of 3 points:",
        "- claim `b`: handbook: ^1$; here: 2 in (path) at last",
    ]
    assert chinese[2] == "- 说法 `b`：手册：^1$；本机：2 in (path) at last" and chinese[2] in printed
    assert max(len(english), len(chinese)) <= report.LINES


def test_the_file_is_a_report_with_one_more_key(fake):
    fake(**{"automatic-mps": holds, "device-order": lambda seconds: steps.not_tried("x")})
    assert call() == 0
    found = written()
    handbook = found.pop("handbook")
    assert list(wrong_steps(handbook)) == []
    assert found.keys() == verify_mac.as_report(verify_mac.Run("cpu", 15)).keys()
    assert (found["program"], found["schema"]) == ("verify_mac", 1)
    assert handbook.keys() == {"commit", "full", "complete", "seconds", "steps"}
    assert (handbook["commit"], handbook["full"]) == ("0123456789ab", False)


def test_code_has_its_hash():
    """So that a page that has other code by now does not say that it ran."""
    (device,) = [one for one in recipes.steps(LINUX) if one.name.endswith("/device.py")]
    hashed = all_sections(ROOT)[0]["snippets/recipes/device.py:recipe"].hash
    assert replace(device, run=lambda seconds: {"outcome": "ran"}).attempt(60)["figures"] == {"code": hashed}
    assert "figures" not in replace(device, why="x").attempt(60)


def test_at_most_60_lines(monkeypatch):
    run = verify_mac.Run("mps", 15)
    run.learn({"torch": "2.15.0", "available": True, "built": True})
    for check in verify_mac.all_checks():
        run.add(check, {"found": "error", "text": "x" * 900})
    rows = [SYSTEM | {"name": str(number), "outcome": "hung", "found": "y" * 900} for number in range(200)]
    content = report.as_json(run, rows, 200, True, "")
    assert len(json.dumps(content)) < 300_000
    for language in report.WORDS:
        lines = report.as_text(content, 200, language).splitlines()
        assert len(lines) <= report.LINES and max(map(len, lines)) <= report.COLUMNS + 2
        assert "200" in lines[0] or "202" in lines[0] or re.search(r"\d{3}", lines[0])


def test_names_of_user_and_machine_are_left_out(monkeypatch):
    names = {"erika", "Erika Muster", "erikas-mac.local"}
    monkeypatch.setattr(report, "names", lambda: names)
    step = {"outcome": "hung", "found": "/Volumes/erika/x and erika, Erika Muster on erikas-mac.local"}
    assert report.clean(step) == {"outcome": "hung", "found": "(path) and (name), (name) on (name)"}
    assert report.told(f"in {ROOT}/snippets/device.py") == "in snippets/device.py"
    assert report.told("aten::linalg_eig of erikas") == "aten::linalg_eig of erikas"


def test_who_is_named(monkeypatch):
    user = SimpleNamespace(pw_name="root", pw_gecos="Erika Muster,,,")
    monkeypatch.setattr(report.pwd, "getpwuid", lambda number: user)
    monkeypatch.setattr(report.platform, "node", lambda: "Erikas-Mac.local")
    monkeypatch.setenv("HOME", "/Volumes/erika")
    report.names.cache_clear()
    assert report.names() == {"Erika Muster", "erika", "Erikas-Mac", "Erikas-Mac.local"}
    report.names.cache_clear()


def test_checks_go_on_where_they_were_stopped(fake, monkeypatch):
    fake()
    monkeypatch.setitem(plan.PARTS, plan.CHECKS, plan.Part(60, 60, lambda place: iter(())))
    began = []

    def go(run):
        began.append(len(run.results))
        for check in verify_mac.all_checks()[len(run.results) :]:
            run.add(check, {"found": "right"})
            if len(run.results) == 5 and len(began) == 1:
                signal.raise_signal(signal.SIGINT)
        run.complete = True

    monkeypatch.setattr(verify_mac.Run, "go", go)
    assert call() == 130 and len(written()["checks"]) == 5
    assert call() == 0 and began == [0, 5]
    assert written()["complete"] and len(written()["checks"]) == len(verify_mac.all_checks())
    assert call() == 0 and len(began) == 2


def test_checks_end_with_their_seconds(monkeypatch):
    from examples.verifying import checks

    run = verify_mac.Run("cpu", 15)
    monkeypatch.setattr(verify_mac.Run, "go", lambda run: time.sleep(30))
    began = time.monotonic()
    checks.go_on(run, 0.2)
    assert time.monotonic() - began < 5 and not run.complete


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--only", "claims,wrong"], "no part 'wrong'"),
        (["--language", "de"], "invalid choice"),
        (["--steps", "3"], "unknown option"),
        (["--json", "mine.json"], "stays as it is"),
        (["--json", "no/such/folder.json"], "no such folder"),
        (["--device", "cuda"], "invalid choice"),
    ],
)
def test_wrong_usage_is_answered_in_one_line(fake, words, told, capsys, tmp_path):
    ran = fake(a=holds)
    (tmp_path / "mine.json").write_text('{"a": 1}')
    assert call(*words) == 2
    printed = capsys.readouterr()
    assert printed.err.count("\n") == 1 and told in printed.err and not ran
    assert [path.name for path in tmp_path.iterdir()] == ["mine.json"]


def test_the_plan_alone_writes_nothing(fake, tmp_path, capsys):
    ran = fake(a=holds)
    assert call("--plan") == 0
    assert not ran and not list(tmp_path.iterdir()) and "claims" in capsys.readouterr().out


def test_a_folder_that_cannot_be_written(fake, tmp_path, capsys):
    fake(a=holds)
    (tmp_path / "runs").write_text("")
    assert call() == 1
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.long
@pytest.mark.program
@pytest.mark.timeout(900)
def test_a_whole_run(tmp_path):
    done = subprocess.run(
        [sys.executable, SCRIPT], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=700
    )
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "verify-mac.json").read_text(encoding="utf-8"))
    assert list(wrong_steps(found["handbook"])) == []
    assert str(Path.home()) + "/" not in json.dumps(found) and str(tmp_path) not in json.dumps(found)
    assert [one for one in found["handbook"]["steps"] if one["outcome"] in steps.DISAGREES] == []
