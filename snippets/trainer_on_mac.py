"""Transformers and Accelerate on a Mac: in which type a layer computes, the random generator of MPS."""

from pathlib import Path

import torch
from torch import nn
from transformers import TrainerCallback


# --8<-- [start:print_precision]
def print_precision(layer: nn.Linear) -> None:
    """Print at the next call of `layer` in which data type it computes."""

    def hook(layer: nn.Linear, inputs: tuple, output: torch.Tensor) -> None:
        print("weights:", layer.weight.dtype, "| computed in:", output.dtype)
        handle.remove()

    handle = layer.register_forward_hook(hook)


# --8<-- [end:print_precision]


# --8<-- [start:keep_random]
class KeepRandomState(TrainerCallback):
    """Add the random generator of MPS to each checkpoint of the Trainer."""

    def file(self, args, state) -> Path:
        return Path(args.output_dir, f"checkpoint-{state.global_step}", "mps_rng_state.pth")

    def on_save(self, args, state, control, **_):
        torch.save(torch.mps.get_rng_state(), self.file(args, state))

    def on_train_begin(self, args, state, control, **_):
        if self.file(args, state).exists():
            torch.mps.set_rng_state(torch.load(self.file(args, state)))


# --8<-- [end:keep_random]


# --8<-- [start:random_state]
class RandomState:
    """The random generator of MPS, for `accelerator.register_for_checkpointing`."""

    def state_dict(self) -> dict:
        return {"mps": torch.mps.get_rng_state()}

    def load_state_dict(self, state: dict) -> None:
        torch.mps.set_rng_state(state["mps"])


# --8<-- [end:random_state]
