"""Generate text with a model and the LoRA that was trained on it."""

# --8<-- [start:generate]
import torch
from peft import AutoPeftModelForCausalLM
from transformers import AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("my-lora")
model = AutoPeftModelForCausalLM.from_pretrained("my-lora", dtype=torch.bfloat16)
model.to("mps" if torch.backends.mps.is_available() else "cpu")
start = tokenizer("Once upon a time", return_tensors="pt").to(model.device)
print(tokenizer.decode(model.generate(**start, max_new_tokens=100)[0]))
# --8<-- [end:generate]
