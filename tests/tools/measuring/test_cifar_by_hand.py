"""Tests of tools/measuring/cifar_by_hand.py: its step computes what three plain, uncompiled steps compute."""

import json
import subprocess
import sys

import pytest

from tools.measuring import cifar_by_hand

WORDS = "--device cpu --verify --width 4 --batch 16 --images 1024 --seconds 0 --layout nchw"


@pytest.mark.long
@pytest.mark.program
@pytest.mark.parametrize("update", ["fused", "flat"])
def test_steps_are_those_of_plain_training(update):
    command = [sys.executable, "-m", cifar_by_hand.__name__, *WORDS.split(), "--update", update]
    first, *_ = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    found = json.loads(first)
    assert found["pass"] and found["error_first_update"] < 1e-4
