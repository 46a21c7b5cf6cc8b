"""How often the simulated device does what a Mac does, by the evidence of calls.txt."""

import ast
import json
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

BATTERY = Path(__file__).with_name("battery.py")
battery = SimpleNamespace(**runpy.run_path(str(BATTERY)))
CALLS = battery.read_calls()
RELEASES = ("2.13", "2.14", "2.15")
# Just below what was measured on 2026-11-27; the device was corrected with this list in view.
ACCEPTED, REFUSED, COMPLEX_REFUSED = 0.995, 0.985, 0.98


def shares(found: dict[str, str], release: str) -> tuple[float, float, float, int]:
    """Return the part of ok calls accepted, of refusals refused, of complex ones refused, and the crashes."""
    judged, _ = battery.judge(CALLS, found, release)
    ok = [item.word == "ok" for item in judged if item.expected == "ok"]
    no = [item.word == "no" for item in judged if item.expected == "no"]
    complex_no = [
        item.word == "no" for item in judged if item.expected == "no" and item.call.kind == "complex"
    ]
    parts = [sum(words) / len(words) for words in (ok, no, complex_no)]
    return parts[0], parts[1], parts[2], sum(item.word == "crash" for item in judged)


@pytest.mark.long
@pytest.mark.program
@pytest.mark.unmeasured
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("release", RELEASES)
def test_simulated_device_agrees_with_the_evidence(release, tmp_path):
    """The shares by kind are printed; a crash is a failure."""
    file = tmp_path / "simulated.json"
    command = [sys.executable, str(BATTERY), "--simulated", release, "--write", str(file), "--list"]
    print(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    accepted, refused, complex_refused, crashes = shares(json.loads(file.read_text())["calls"], release)
    assert crashes == 0
    assert accepted >= ACCEPTED
    assert refused >= REFUSED
    assert complex_refused >= COMPLEX_REFUSED


def test_battery_is_large_enough_and_every_line_parses():
    """At least 600 calls count for each release, 60 of them complex, and a quarter of them are refusals."""
    assert len({call.code for call in CALLS}) == len(CALLS)
    for call in CALLS:
        ast.parse(call.code)
        assert call.kind in battery.KINDS
        assert {battery.expected(call, release) for release in RELEASES} <= {"ok", "no", "?"}
    for release in RELEASES:
        words = [(battery.expected(call, release), call.kind) for call in CALLS]
        counted = [word for word, _ in words if word != "?"]
        assert len(counted) >= 600
        assert sum(kind == "complex" and word != "?" for word, kind in words) >= 60
        assert counted.count("no") / len(counted) > 0.25


@pytest.mark.parametrize("outcome", ["ok", "RuntimeError: planted", "crash: planted"])
def test_a_device_that_always_does_the_same_fails(outcome):
    """A device that accepts everything, refuses everything or dies is not taken for a good one."""
    accepted, refused, _, crashes = shares({call.code: outcome for call in CALLS}, "2.15")
    assert accepted < ACCEPTED or refused < REFUSED or crashes


def test_ranges_of_releases_are_inclusive():
    """A range ends with the release that it names."""
    call = battery.Call("", "plain", "..2.13=no,2.14=?,2.15..=ok", "", "")
    assert [battery.expected(call, release) for release in ("2.13.1", "2.14.0", "2.15", "2.16")] == [
        "no",
        "?",
        "ok",
        "ok",
    ]
