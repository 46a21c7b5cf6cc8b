"""The measurement of the simulated device counts what really happened to each test."""

import sys

import pytest

from snippets.errors import RunError
from tools.measuring import simulated_mps as tool

SUITE = """
import os
import platform
import subprocess
import unittest


class TestMPS(unittest.TestCase):
    def test_good(self):
        self.assertEqual(platform.mac_ver()[0], "15.5")
        self.assertGreater(int(subprocess.check_output(["sysctl", "-n", "hw.memsize"])), 1 << 30)

    def test_bad(self):
        self.assertEqual(1, 2)

    def test_crash(self):
        os._exit(9)

    def test_left_out(self):
        self.skipTest("no reason")

    @unittest.expectedFailure
    def test_known(self):
        self.fail()

    @unittest.expectedFailure
    def test_fixed(self):
        pass

    def test_metal_arange(self):
        self.fail()

    def test_zeal(self):
        pass
"""


@pytest.mark.program
def test_outcomes_are_counted_and_a_crash_is_passed_over(tmp_path):
    folder, scratch = tmp_path / "suite", tmp_path / "scratch"
    folder.mkdir()
    scratch.mkdir()
    (folder / "test_mps.py").write_text(SUITE)
    results = tool.run_tests(folder, scratch, device=())
    counts = tool.count(results)
    assert counts == {
        "hand_written": {
            "crashed": 1,
            "failed": 1,
            "fails_on_both": 1,
            "fails_on_mps_only": 1,
            "needs_metal": 1,
            "passed": 2,
            "skipped": 1,
        }
    }
    assert tool.shares(counts) == {
        "accepts_what_a_mac_accepts": 0.5,  # two passed, one failed, one crashed
        "refuses_what_a_mac_refuses": 0.5,  # one failed as expected, one passed
    }
    assert tool.reasons(results) == [
        {"tests": 1, "message": "AssertionError: # != #"},
        {"tests": 1, "message": "crashed"},
    ]


@pytest.mark.program
def test_tests_that_cannot_run_are_an_error(tmp_path):
    folder, scratch = tmp_path / "suite", tmp_path / "scratch"
    folder.mkdir()
    scratch.mkdir()
    (folder / "test_mps.py").write_text("import there_is_no_such_module")
    with pytest.raises(RunError, match="the tests do not run"):
        tool.run_tests(folder, scratch, device=())


def test_groups_follow_the_classes():
    passed = {"outcome": "passed", "message": ""}
    names = ["TestConsistencyCPU::a", "TestErrorInputsMPS::b", "TestCommonMPS::c", "TestMPS::d"]
    assert tool.count(dict.fromkeys(names, passed)) == {
        "hand_written": {"passed": 1},
        "consistency": {"passed": 1},
        "error_inputs": {"passed": 1},
        "numpy": {"passed": 1},
    }


def test_lists_of_known_failures_are_those_installed():
    old = "def mps_ops_modifier(ops):\n    return ops\n\nclass MpsMemoryLeakCheck:\n    pass\n"
    changed = tool.with_installed_lists(old)
    assert changed.index("def mps_ops_modifier") < changed.index("common_mps.mps_ops_modifier")
    assert changed.index("common_mps.mps_ops_modifier") < changed.index("class MpsMemoryLeakCheck")
    new = "from torch.testing._internal.common_mps import mps_ops_modifier\n" + old
    assert tool.with_installed_lists(new) == new


def test_a_folder_without_the_tests_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["measure_simulated_mps", str(tmp_path)])
    assert tool.exit_with_one_line(tool.main) == 2
    assert "name a folder with PyTorch's test/test_mps.py" in capsys.readouterr().err
