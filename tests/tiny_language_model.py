"""A tiny random Llama with its tokenizer, in a folder, in place of a model from the Hub."""

from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

# Two of Qwen3's habits: a line break after the token that ends a turn, and an empty block before an answer.
CHAT = (
    "{% for m in messages %}<{{ m['role'] }}>{{ '()' if m['role'] == 'assistant' }}"
    "{{ m['content'] + '<end>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{{ '()' if enable_thinking is false }}{% endif %}"
)


def save_tiny_model(folder: Path, **special: str) -> None:
    """Save a Llama in bfloat16 and a tokenizer of bytes.

    It has no token for padding and no chat template unless they are given: `pad_token`, `chat_template`.
    """
    torch.manual_seed(0)
    characters = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = {word: number for number, word in enumerate(["<end>", "<pad>", *characters])}
    tokenizer = Tokenizer(models.BPE(vocab=words, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<end>", **special).save_pretrained(folder)
    config = LlamaConfig(
        vocab_size=len(words),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        bos_token_id=None,
        eos_token_id=0,
    )
    LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(folder)
