"""Run snippets/lora_train.py and lora_generate.py as readers do, with a tiny model in place of the named."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import Trainer

from tests.recipe_runs import ROOT, run_recipe
from tests.tiny_language_model import CHAT, save_tiny_model

NAME = "Qwen/Qwen3-0.6B"  # a folder of this name is taken before the Hub
STEPS = 27  # of 8 pieces: 71 are 9 steps in an epoch


def messages(question: str, answer: str) -> dict:
    """Return a record of a chat."""
    turns = zip(("user", "assistant"), (question, answer), strict=True)
    return {"messages": [{"role": role, "content": content} for role, content in turns]}


def prepare(folder: Path, **special: str) -> Path:
    """Put a model and 70 texts into a new folder, and return it.

    The first is of two pieces. The others are chats if the model has a `chat_template`.
    """
    folder.mkdir(exist_ok=True)
    save_tiny_model(folder / NAME, **special)
    texts = [f"Once upon a time, {i} " + "ships " * (i % 7) for i in range(69)]
    short = [messages(text, "Yes.") if "chat_template" in special else {"text": text} for text in texts]
    lines = "\n".join(json.dumps(record) for record in [{"text": "The sea is blue. " * 31}, *short])
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
    """Start without texts, with wrong lines, and with a chat but no template: each ends in one line."""
    for _ in ("missing", "empty"):
        with pytest.raises(
            SystemExit, match=r"^error: /.*texts\.jsonl is missing or empty; write your texts"
        ):
            train(folder)
        (folder / "texts.jsonl").write_text("\n", encoding="utf-8")
    forms = r'; write {"messages": \[{"role": "user", "content": "…"}, …\]} or {"text": "…"}$'
    wrong = ("Hello", '{"text": "He said "no""}', '{"words": "Hello"}', '"Hello"', '{"text": 5}')
    no_chats = [json.dumps({"messages": chat}) for chat in ("Hello", [], [{"from": "a"}], [{"role": "bot"}])]
    save_tiny_model(folder / NAME, chat_template=CHAT)
    for line in (*wrong, *no_chats):
        (folder / "texts.jsonl").write_text(f'{{"text": "Hello"}}\n\n{line}\n', encoding="utf-8")
        with pytest.raises(SystemExit, match=rf"^error: line 3 of texts\.jsonl: .+{forms}"):
            train(folder)
    shutil.rmtree(folder / NAME)
    save_tiny_model(folder / NAME)
    (folder / "texts.jsonl").write_text(json.dumps(messages("Who?", "I.")), encoding="utf-8")
    with pytest.raises(SystemExit, match=rf"^error: line 1 of .*chat_template is not set.*{forms}"):
        train(folder)


def check_training_and_resume(folder: Path, device: str) -> None:
    """Train at once, and interrupted: both end with the same matrices, on this device."""
    whole, halves = (prepare(folder / name, chat_template=CHAT) for name in ("whole", "halves"))
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
    assert names["model"].device.type == device
    prompts = [names["tokenizer"].decode(names["start"]["input_ids"][0])]
    assert "<assistant>()" not in text and 0 < len(names["new"]) <= 100
    (halves / "my-lora/chat_template.jinja").unlink()
    _, names = generate(halves)
    prompts.append(names["tokenizer"].decode(names["start"]["input_ids"][0]))
    assert prompts == ["<user>Who are you?<end>\n<assistant>()", "Who are you?"]
