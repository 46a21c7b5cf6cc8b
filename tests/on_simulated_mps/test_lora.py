"""The LoRA of frameworks/trainer.md on the simulated MPS device."""

import pytest
from accelerate.state import AcceleratorState

from tests.lora_script import check_missing_and_wrong_texts, check_training_and_resume


@pytest.fixture(autouse=True)
def fresh_accelerator():
    """Let Accelerate choose anew: it remembers its device for the whole process."""
    AcceleratorState._reset_state(reset_partial_state=True)
    yield
    AcceleratorState._reset_state(reset_partial_state=True)


@pytest.mark.slow
def test_an_interrupted_training_ends_with_the_same_matrices(tmp_path):
    check_training_and_resume(tmp_path, "mps")


def test_missing_or_wrong_texts_are_one_line(tmp_path):
    check_missing_and_wrong_texts(tmp_path)
