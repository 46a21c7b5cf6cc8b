"""Train a LoRA of a language model on your own chats or texts, and go on after an interruption."""
# ruff: noqa: I001 - imports in lines that a page can show

# --8<-- [start:train]
import json
from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer, DataCollatorForSeq2Seq
from transformers import Trainer, TrainingArguments

NAME = "Qwen/Qwen3-0.6B"  # a name on the Hub, or a folder with a model
FILE = Path("texts.jsonl")  # or a plain text, such as notes.txt
FORMS = '{"messages": [{"role": "user", "content": "…"}, …]} or {"text": "…"}'

text = FILE.read_text("utf-8") if FILE.exists() else ""
if not text.strip():
    raise SystemExit(f"error: {FILE.resolve()} is missing or empty; write your texts into it")
lines = text.split("\n") if FILE.suffix == ".jsonl" else [json.dumps({"text": text})]

tokenizer = AutoTokenizer.from_pretrained(NAME)
tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
rows = []
for number, line in enumerate(lines, 1):
    if not line.strip():
        continue
    try:
        record = json.loads(line)
        if "messages" in record:
            if not {turn["role"] for turn in record["messages"]} <= {"system", "user", "assistant", "tool"}:
                raise ValueError("unknown role")  # Qwen3's template would leave it out
            rows += [tokenizer.apply_chat_template(record["messages"])["input_ids"]]
        else:
            rows += [tokenizer(record["text"] + tokenizer.eos_token)["input_ids"]]
    except Exception as error:
        raise SystemExit(f"error: line {number} of {FILE}: {error}; write {FORMS}") from None
pieces = [row[i : i + 512] for row in rows for i in range(0, len(row), 512)]
data = [{"input_ids": piece, "labels": piece} for piece in pieces]

model = AutoModelForCausalLM.from_pretrained(NAME, dtype=torch.bfloat16)
lora = LoraConfig(r=16, lora_alpha=32, target_modules="all-linear", task_type="CAUSAL_LM")
model = get_peft_model(model, lora)
settings = TrainingArguments(
    "my-lora",
    learning_rate=2e-4,
    num_train_epochs=3,
    per_device_train_batch_size=1,
    gradient_accumulation_steps=8,
    activation_checkpointing=True,
    logging_steps=5,
    save_steps=20,
    save_total_limit=2,
    dataloader_pin_memory=False,
)
# DataCollatorForLanguageModeling would ignore the last token of a text where it is the padding, too.
collator = DataCollatorForSeq2Seq(tokenizer, pad_to_multiple_of=64)
trainer = Trainer(model, settings, collator, data, processing_class=tokenizer)
print("device:", settings.device, "| weights:", model.dtype, "| pieces:", len(data))
trainer.train(resume_from_checkpoint=any(Path("my-lora").glob("checkpoint-*")))
trainer.save_model()
# --8<-- [end:train]
