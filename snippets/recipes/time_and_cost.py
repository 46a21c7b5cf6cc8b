"""Count the operations of a step, time some steps, and multiply."""

# --8<-- [start:recipe]
import time

import torch
from torch.utils.flop_counter import FlopCounterMode

device = "mps" if torch.backends.mps.is_available() else "cpu"
model = torch.nn.TransformerEncoderLayer(256, nhead=4, batch_first=True).to(device)
batch, steps = torch.randn(16, 64, 256, device=device), 100_000
with FlopCounterMode(display=False) as count:  # this step is also the warm-up
    model(batch).square().mean().backward()

start = time.perf_counter()
for _ in range(20):
    model(batch).square().mean().backward()

next(model.parameters()).grad.sum().item()  # waits until the GPU has finished
seconds = (time.perf_counter() - start) / 20
print(f"{count.get_total_flops() / 1e9:.2f} GFLOP, {seconds:.3f} s per step ({device})")
print(f"{steps:,} steps: {steps * seconds / 3600:.1f} h")
# --8<-- [end:recipe]
