"""Train LoRA's matrices beside a frozen tiny model, and save them alone."""

# fmt: off
# --8<-- [start:recipe]
import torch
from peft import LoraConfig, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

torch.manual_seed(0)
rows = (torch.arange(64)[:, None] + torch.arange(16)) % 50  # rows such as 3, 4, 5
data = [{"input_ids": row, "labels": row} for row in rows]
size = {"vocab_size": 50, "hidden_size": 32, "intermediate_size": 64}
heads = {"num_hidden_layers": 2, "num_attention_heads": 2, "initializer_range": 0.5}
cfg = LoraConfig(r=8, lora_alpha=16, target_modules="all-linear", task_type="CAUSAL_LM")
model = get_peft_model(LlamaForCausalLM(LlamaConfig(**size, **heads)), cfg)
model.print_trainable_parameters()
settings = TrainingArguments("tiny-lora", dataloader_pin_memory=False, logging_steps=40,
    learning_rate=0.03, num_train_epochs=10, save_strategy="no", disable_tqdm=True)
Trainer(model, settings, train_dataset=data).train()
model.save_pretrained("tiny-lora")
# --8<-- [end:recipe]
# fmt: on
