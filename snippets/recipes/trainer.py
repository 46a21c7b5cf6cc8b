"""Train a tiny Transformers model with Trainer on the device that it chooses."""

# fmt: off
# --8<-- [start:recipe]
import torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

torch.manual_seed(0)
rows = (torch.arange(64)[:, None] + torch.arange(16)) % 50  # sentences that count
data = [{"input_ids": row, "labels": row} for row in rows]
size = {"vocab_size": 50, "hidden_size": 32, "intermediate_size": 64}
config = LlamaConfig(**size, num_hidden_layers=2, num_attention_heads=2)
quiet = {"save_strategy": "no", "logging_steps": 20, "disable_tqdm": True}
settings = TrainingArguments(
    "tiny-llama", num_train_epochs=10, learning_rate=0.01,
    per_device_train_batch_size=16, dataloader_pin_memory=False, **quiet)
trainer = Trainer(LlamaForCausalLM(config), settings, train_dataset=data)
steps = trainer.train().global_step
print("device:", trainer.args.device, "| steps:", steps)
# --8<-- [end:recipe]
# fmt: on
