"""Let a model answer or continue a text, with the LoRA that was trained on it."""

# --8<-- [start:generate]
import torch
from peft import AutoPeftModelForCausalLM
from transformers import AutoTokenizer

PROMPT = "Who are you?"

tokenizer = AutoTokenizer.from_pretrained("my-lora")
model = AutoPeftModelForCausalLM.from_pretrained("my-lora", dtype=torch.bfloat16)
model.to("mps" if torch.backends.mps.is_available() else "cpu")
if tokenizer.chat_template:  # to continue a text, write False
    start = tokenizer.apply_chat_template(
        [{"role": "user", "content": PROMPT}],
        add_generation_prompt=True,
        enable_thinking=False,  # Qwen3 then starts the answer as in the training
        return_tensors="pt",
    )
else:
    start = tokenizer(PROMPT, return_tensors="pt")
start = start.to(model.device)
new = model.generate(**start, max_new_tokens=100)[0, start["input_ids"].shape[1] :]
print(tokenizer.decode(new, skip_special_tokens=True))
# --8<-- [end:generate]
