"""Run `-u SCRIPT OPTION…` as Python does, but let the first process crash; see test_launch.py.

It computes on the CPU and speaks of MPS, saves at every look at the loss, and aborts during step 14.
"""

import os
import runpy
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from examples.programs.run_folder import RunFolder
from snippets import training_loop

_, script, *words = sys.argv[1:]
if "--device" not in words:
    beat, is_time = RunFolder.beat, training_loop.Training.report_is_due

    def speak_of_mps(run, status="running", **values):
        beat(run, status, **values | ({"device": "mps"} if "device" in values else {}))

    def crash(training):
        if training.state.step == 14:
            os.abort()
        return is_time(training)

    RunFolder.beat, training_loop.Training.report_is_due = speak_of_mps, crash
    training_loop.FIRST_SAVE, training_loop.SAVE_SHARE = 0.0, float("inf")
    words += ["--device", "cpu"]
sys.argv = [script, *words]
runpy.run_path(script, run_name="__main__")
