"""The LoRA of frameworks/trainer.md on the CPU: it trains, goes on after an interruption, and generates."""

import pytest
import torch
from transformers import Trainer

from tests.lora_script import check_training_and_resume, prepare, train

pytestmark = [pytest.mark.program, pytest.mark.slow]


@pytest.mark.skipif(torch.backends.mps.is_available(), reason="Trainer takes MPS")
def test_an_interrupted_training_ends_with_the_same_matrices(tmp_path):
    check_training_and_resume(tmp_path, "cpu")


@pytest.mark.parametrize("special", [{}, {"pad_token": "<pad>"}])
def test_texts_are_cut_end_and_are_padded(tmp_path, special, monkeypatch):
    monkeypatch.setattr(Trainer, "train", lambda *_, **__: None)
    _, names = train(prepare(tmp_path, **special))
    tokenizer, data = names["tokenizer"], names["data"]
    assert tokenizer.pad_token == special.get("pad_token", "<end>")
    assert [len(row["input_ids"]) for row in data[:2]] == [512, 16]  # one text, of which nothing is lost
    assert [row["labels"][-1] == tokenizer.eos_token_id for row in data] == [False] + [True] * 70
    batch = names["collator"]([data[1]])
    assert batch["input_ids"].shape == batch["labels"].shape == (1, 64)
    assert batch["labels"][0, 15:].tolist() == [tokenizer.eos_token_id] + [-100] * 48
    assert batch["attention_mask"].sum() == 16
