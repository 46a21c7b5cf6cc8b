"""Run snippets/lora_train.py and lora_generate.py as readers do, with a tiny model in place of the named."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import Trainer

from tests.recipe_runs import ROOT, run_recipe
from tests.tiny_language_model import save_tiny_model

NAME = "Qwen/Qwen3-0.6B"  # a folder of this name is taken before the Hub
STEPS = 27  # of 8 pieces: 71 are 9 steps in an epoch


def prepare(folder: Path, **special: str) -> Path:
    """Put a model and 70 texts, one of them of two pieces, into a new folder, and return it."""
    folder.mkdir(exist_ok=True)
    save_tiny_model(folder / NAME, **special)
    texts = ["The sea is blue. " * 31, *(f"Once upon a time, {i} " + "ships " * (i % 7) for i in range(69))]
    lines = "\n".join(json.dumps({"text": text}) for text in texts)
    (folder / "texts.jsonl").write_text(f"{lines}\n\n", encoding="utf-8")
    return folder


def train(folder: Path, interrupt_after: int | None = None) -> tuple[str, dict]:
    """Train, or interrupt the training in the step after so many; return what it printed, and its names."""
    torch.manual_seed(1)
    step = Trainer.training_step

    def interrupted(trainer: Trainer, *args: object, **options: object) -> torch.Tensor:
        if trainer.state.global_step == interrupt_after:
            raise KeyboardInterrupt
        return step(trainer, *args, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Trainer, "training_step", interrupted)
        return run_recipe(ROOT / "snippets/lora_train.py", folder)


def generate(folder: Path) -> tuple[str, dict]:
    """Generate text; return it, and the names of the script."""
    return run_recipe(ROOT / "snippets/lora_generate.py", folder)


def checkpoints(folder: Path) -> set[str]:
    """Return the names of the checkpoints in a folder."""
    return {path.name for path in (folder / "my-lora").glob("checkpoint-*")}


def adapter(folder: Path) -> torch.Tensor:
    """Return the saved matrices in one row."""
    matrices = load_file(folder / "my-lora/adapter_model.safetensors")
    return torch.cat([matrices[name].flatten() for name in sorted(matrices)])


def check_missing_and_wrong_texts(folder: Path) -> None:
    """Start without texts, and with lines that are none: each ends with one line that tells it."""
    with pytest.raises(
        SystemExit, match=r"^error: there is no file /.*texts\.jsonl; write your texts into it$"
    ):
        train(folder)
    for line in ("Hello", '{"text": "He said "no""}', '{"words": "Hello"}', '"Hello"'):
        (folder / "texts.jsonl").write_text(f'{{"text": "Hello"}}\n\n{line}\n', encoding="utf-8")
        with pytest.raises(SystemExit, match=r'^error: line 3 of texts\.jsonl is not {"text": "…"}$'):
            train(folder)


def check_training_and_resume(folder: Path, device: str) -> None:
    """Train at once, and interrupted: both end with the same matrices, on this device."""
    whole, halves = prepare(folder / "whole"), prepare(folder / "halves")
    printed, names = train(whole)
    assert f"device: {device} | weights: torch.bfloat16 | pieces: 71\n" in printed
    model, state = names["model"], names["trainer"].state
    trained = {parameter.dtype for parameter in model.parameters() if parameter.requires_grad}
    assert trained == {torch.float32} and model.device.type == device
    losses = [entry["loss"] for entry in state.log_history if "loss" in entry]
    assert state.global_step == STEPS and len(losses) == 5 and losses[-1] < losses[0]

    with pytest.raises(KeyboardInterrupt):
        train(halves, interrupt_after=23)
    assert checkpoints(halves) == {"checkpoint-20"}
    _, names = train(halves)
    assert names["trainer"].state.global_step == STEPS
    assert checkpoints(halves) == {"checkpoint-20", "checkpoint-27"}
    assert torch.equal(adapter(whole), adapter(halves)) and adapter(whole).any()

    text, names = generate(halves)
    assert text.startswith("Once upon a time") and names["model"].device.type == device
