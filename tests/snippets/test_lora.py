"""The LoRA of frameworks/trainer.md on the CPU: it trains, goes on after an interruption, and generates."""

import pytest
import torch
from transformers import Trainer

from tests.lora_script import (
    check_missing_and_wrong_texts,
    check_training_and_resume,
    checkpoints,
    prepare,
    train,
)
from tests.recipe_runs import ROOT, run_recipe
from tests.tiny_language_model import CHAT

pytestmark = [pytest.mark.program, pytest.mark.slow]


@pytest.mark.skipif(torch.backends.mps.is_available(), reason="Trainer takes MPS")
def test_an_interrupted_training_ends_with_the_same_matrices(tmp_path):
    check_training_and_resume(tmp_path, "cpu")


@pytest.mark.skipif(torch.backends.mps.is_available(), reason="Trainer takes MPS")
def test_what_may_change_and_break_after_an_interruption(tmp_path):
    folder = prepare(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        train(folder, interrupt_after=21)
    (folder / "my-lora/checkpoint-21").mkdir()
    with pytest.raises(ValueError, match="Can't find a valid checkpoint at my-lora/checkpoint-21"):
        train(folder)
    (folder / "my-lora/checkpoint-21").rmdir()
    script = (ROOT / "snippets/lora_train.py").read_text(encoding="utf-8")
    for old, new in (("=2e-4", "=1e-5"), ("epochs=3", "epochs=4"), ("save_steps=20", "save_steps=5")):
        assert old in script
        script = script.replace(old, new)
    (folder / "own.py").write_text(script, encoding="utf-8")
    _, names = run_recipe(folder / "own.py", folder)
    rates = {entry["step"]: entry["learning_rate"] for entry in names["trainer"].state.log_history[:-1]}
    assert rates[30] == pytest.approx(2e-4 * (36 - 29) / 36)
    assert checkpoints(folder) == {"checkpoint-20", "checkpoint-36"}


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


def test_a_chat_ends_as_its_template_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(Trainer, "train", lambda *_, **__: None)
    _, names = train(prepare(tmp_path, chat_template=CHAT))
    decoded = [names["tokenizer"].decode(row["labels"]) for row in names["data"]]
    assert decoded[1].endswith("is blue. <end>")
    assert decoded[2] == "<user>Once upon a time, 0 <end>\n<assistant>()Yes.<end>\n"
    assert len(decoded) == 71 and {text.count("<end>") for text in decoded[2:]} == {2}


def test_missing_or_wrong_texts_are_one_line(tmp_path):
    check_missing_and_wrong_texts(tmp_path)


def test_plain_text_is_cut(tmp_path, monkeypatch):
    monkeypatch.setattr(Trainer, "train", lambda *_, **__: None)
    folder = prepare(tmp_path)
    (folder / "notes.txt").write_text("a\n" * 300, encoding="utf-8")
    script = (ROOT / "snippets/lora_train.py").read_text(encoding="utf-8")
    (folder / "own.py").write_text(script.replace("texts.jsonl", "notes.txt"), encoding="utf-8")
    _, names = run_recipe(folder / "own.py", folder)
    assert [len(row["input_ids"]) for row in names["data"]] == [512, 89]
