"""A tiny network in Transformers' Trainer, for the tests of frameworks/trainer.md."""

from collections.abc import Sequence
from pathlib import Path

import torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainerCallback, TrainingArguments


def tiny_trainer(folder: Path, callbacks: Sequence[TrainerCallback] = (), **options: object) -> Trainer:
    """Return a Trainer with dropout and 8 steps to go, each time with the same weights."""
    torch.manual_seed(0)
    rows = torch.arange(64)[:, None].add(torch.arange(16)) % 50
    config = LlamaConfig(
        vocab_size=50,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        attention_dropout=0.2,
    )
    settings = TrainingArguments(
        str(folder),
        **{
            "num_train_epochs": 2,
            "per_device_train_batch_size": 16,
            "dataloader_pin_memory": False,
            "save_strategy": "no",
            "disable_tqdm": True,
        }
        | options,
    )
    data = [{"input_ids": row, "labels": row} for row in rows]
    return Trainer(LlamaForCausalLM(config), settings, train_dataset=data, callbacks=list(callbacks))


def trained_weights(trainer: Trainer) -> torch.Tensor:
    """Return all weights in one row, on the CPU."""
    return torch.cat([weight.detach().cpu().flatten() for weight in trainer.model.parameters()])
