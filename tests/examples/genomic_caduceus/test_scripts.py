"""The scripts that train on several data sets: what they start, in which order, and with which settings."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[3] / "examples" / "genomic_caduceus"
PLAIN = FOLDER / "run_genomic_benchmark_no_wandb.sh"
OPTIMIZED = FOLDER / "mps_optimized_genomic_benchmark.sh"
NEWER_BASH = re.compile(r"\b(mapfile|readarray|declare -A|coproc)\b|\$\{\w+(,,|\^\^)|&>>|\|&")
# Instead of Python: notes its words, one per line, and what reaches PyTorch; fails where the test says so.
STAND_IN = """#!/bin/sh
{ printf '%s\\n' "$@"; echo "fallback=${PYTORCH_ENABLE_MPS_FALLBACK:-}"; echo; } >> "$NOTES"
case "$*" in *"${FAILS:-no such word}"*) exit 130 ;; esac
"""
pytestmark = pytest.mark.program


@pytest.fixture
def start(tmp_path):
    """Return a function that runs a script; it gives the exit code, errors and the words of each `python`."""
    programs, home = tmp_path / "programs", tmp_path / "home"
    programs.mkdir()
    home.mkdir()
    (programs / "python").write_text(STAND_IN)
    (programs / "python").chmod(0o755)
    notes = tmp_path / "notes"
    left_out = ("DATA", "DATASETS", "SEEDS", "OUT", "EXPERIMENT", "FAILS", "PYTORCH_ENABLE_MPS_FALLBACK")
    plain = {name: value for name, value in os.environ.items() if name not in left_out}

    def call(script, *words, **variables):
        notes.unlink(missing_ok=True)
        path = f"{programs}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            [shutil.which("bash"), script, *words],
            cwd=tmp_path,
            env=plain | {"PATH": path, "HOME": str(home), "NOTES": str(notes), **variables},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        begun = notes.read_text().strip("\n").split("\n\n") if notes.exists() else []
        return done.returncode, done.stderr, [text.split("\n") for text in begun]

    return call


def data_sets(folder, *names):
    for name in names:
        (folder / name / "train").mkdir(parents=True)
    return str(folder)


def test_all_data_sets_of_a_folder_with_all_seeds(start, tmp_path):
    data = data_sets(tmp_path / "my data", 'it\'s "b"', "a")
    (tmp_path / "my data" / "no data").mkdir()
    code, errors, begun = start(PLAIN, "batch_size=64", "model=small", DATA=data)
    assert (code, errors) == (0, "")
    assert begun == [
        [
            *(str(FOLDER / "compare_seeds.py"), "1", "2", "3", "4", "5"),
            *("--out", f"runs/genomic_caduceus/genomic_benchmark/{name}"),
            *("--", "experiment=hg38/genomic_benchmark", f"data={data}/{name}"),
            *("batch_size=64", "model=small", "fallback="),
        ]
        for name in ("a", 'it\'s "b"')
    ]


def test_script_trains_named_data_sets_and_seeds(start, tmp_path):
    data = data_sets(tmp_path / "data", "a", "b", "c")
    code, _, begun = start(OPTIMIZED, DATA=data, DATASETS="c a", SEEDS="7 8", OUT="out")
    assert code == 0
    assert [words[1:] for words in begun] == [
        [
            *("7", "8", "--out", f"out/{name}", "--"),
            *("experiment=hg38/mps_optimized_genomic_benchmark", f"data={data}/{name}", "fallback=1"),
        ]
        for name in ("c", "a")
    ]
    off = start(OPTIMIZED, DATA=data, DATASETS="a", PYTORCH_ENABLE_MPS_FALLBACK="0")[2]
    assert off[0][-1] == "fallback=0"


def test_a_single_data_set(start, tmp_path):
    data = data_sets(tmp_path, "one set")
    code, _, begun = start(PLAIN, DATA=f"{data}/one set", SEEDS="1")
    assert (code, len(begun)) == (0, 1)
    assert (
        f"data={data}/one set" in begun[0] and "runs/genomic_caduceus/genomic_benchmark/one set" in begun[0]
    )


def test_downloaded_data_sets_are_found(start, tmp_path):
    home = data_sets(tmp_path / "home" / ".genomic_benchmarks", "a")
    assert f"data={home}/a" in start(PLAIN)[2][0]


def test_without_data_it_is_said_what_to_do(start, tmp_path):
    for variables in ({}, {"DATA": str(tmp_path / "programs")}):
        code, errors, begun = start(OPTIMIZED, **variables)
        assert (code, errors.count("\n"), begun) == (2, 1, [])
        assert "holds no data set; name a folder with DATA=, or make one: python " in errors


def test_an_interruption_ends_everything(start, tmp_path):
    data = data_sets(tmp_path / "data", "a", "b")
    code, _, begun = start(PLAIN, DATA=data, FAILS="data/a")
    assert (code, len(begun)) == (130, 1)


def test_macos_can_run_them():
    for script in (PLAIN, OPTIMIZED):
        assert not NEWER_BASH.search(script.read_text(encoding="utf-8")), "macOS has bash 3.2"
        assert os.access(script, os.X_OK)
