"""A test of Transformers' Trainer for any device: Trainer takes what the machine has."""

# --8<-- [start:tests]
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments


def test_trainer_trains_and_the_model_generates(tmp_path):
    """Finds what the network, Trainer and generation call that MPS does not have."""
    sizes = {"vocab_size": 64, "n_positions": 32, "n_embd": 16, "n_layer": 2, "n_head": 2}
    network = GPT2LMHeadModel(GPT2Config(**sizes, bos_token_id=0, eos_token_id=0))
    texts = [{"input_ids": torch.arange(16) + i, "labels": torch.arange(16) + i} for i in range(8)]
    fewest = {"max_steps": 3, "per_device_train_batch_size": 2, "report_to": []}
    arguments = TrainingArguments(tmp_path, **fewest, dataloader_pin_memory=False)  # MPS has none
    trainer = Trainer(network, arguments, train_dataset=texts)
    trainer.train()
    network.eval()  # dropout in attention without a gradient is an error on MPS since 2.13
    start = torch.zeros(1, 1, dtype=torch.long, device=trainer.args.device)
    assert network.generate(start, max_new_tokens=8, num_beams=2).shape[1] <= 9


# --8<-- [end:tests]
