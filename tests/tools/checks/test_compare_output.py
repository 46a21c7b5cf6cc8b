"""Comparison of outputs: what may differ when masked, and that nothing else may."""

import pytest

from tools.checks.compare_output import compare, mask


@pytest.mark.parametrize(
    ("recorded", "now"),
    [
        ("epoch 1 | loss 2.30 | 1,021 images/s", "epoch 1 | loss 1.9e-01 |  17 images/s"),
        ("took 3.2 s", "took 2 min"),
        ("PyTorch 2.15.0+cu132 on cpu", "PyTorch 2.13.0 on cpu"),
        ("2.15.0+cu132, cpu", "2.13.0+cpu, cpu"),
        ("ended 4 s ago", "ended 1 min 33 s ago"),
        ("saved 92 kB", "saved 1.2 MB"),
        (
            "run in runs/cifar_optimizers/2026-11-20_11-10-15",
            "run in runs/cifar_optimizers/2027-01-02_09-08-07",
        ),
        ("python: /usr/bin/python3.11", "python: ~/mps-handbook/.venv/bin/python"),
        ("commit 42e9d4d2d985", "commit e26aa3ee"),
        ("loss -0.5", "loss 0.5"),
        ("===== 2 passed in 1.72s =====", "==== 2 passed in 11.52s ===="),
        ("time 10:15:02", "time 9:01"),
        ("      snippets/checkpoints.py:328", "      snippets/checkpoints.py:328, 2 times"),
        ("  0.2 ⠑⠢⢄   ⠈⠒⢄", "  0.3 ⠒⢄⣀"),
    ],
)
def test_measurements_may_differ_when_masked(recorded, now):
    assert compare(recorded, now, "masked") == (1, [])
    assert len(compare(recorded, now, "exact")[1]) == 1


@pytest.mark.parametrize(
    ("recorded", "now", "lines"),
    [
        ("loss 2.3", "lose 2.3", 1),
        ("loss 2.3", "loss nan", 1),
        ("fp32", "fp16", 1),
        ("ok: 1", "ok:", 1),
        ("      train.py:328", "      test.py:328, 2 times", 1),
        ("retried", "retried, 2 times", 1),
        ("a\nb", "a", 2),
        ("a", "a\nb", 2),
        ("a\nb", "b\na", 2),
        ("a\n\nb", "a\nb", 3),
        ("saved accede", "saved decade", 1),
        ("  0.2 ⠑⠢⢄", "  0.2", 1),
    ],
)
def test_nothing_else_may_differ(recorded, now, lines):
    compared, differences = compare(recorded, now, "masked")
    assert compared == lines
    assert differences


def test_exact_is_exact():
    assert compare("a 1\nb", "a 1\nb", "exact") == (2, [])
    assert compare("a 1", "a  1", "exact")[1] == ["line 1: recorded 'a 1', printed 'a  1'"]


def test_masks_leave_words_alone():
    assert mask("device: cpu (ResNet-18, bf16)") == "device: cpu (ResNet-N, bf16)"
    assert mask("ein/aus and 3/4") == "ein/aus and N/N"
