"""Count the operations of a step, time some steps, and multiply."""

# --8<-- [start:recipe]
from timeit import timeit

import torch.utils.flop_counter

device = "mps" if torch.backends.mps.is_available() else "cpu"
model = torch.nn.TransformerEncoderLayer(256, nhead=4, batch_first=True)
batch, steps = torch.randn(16, 64, 256), 100_000


def step():
    model(batch).square().mean().backward()
    next(model.parameters()).grad.sum().item()  # waits until the GPU has finished


with torch.utils.flop_counter.FlopCounterMode(display=False) as count:
    step()  # on the CPU, because on MPS the count would be too low

model, batch = model.to(device), batch.to(device)
timeit(step, number=10)  # the warm-up
seconds = timeit(step, number=30) / 30
print(f"{count.get_total_flops() / 1e9:.2f} GFLOP, {seconds:.3f} s per step ({device})")
print(f"{steps:,} steps: {steps * seconds / 3600:.1f} h")
# --8<-- [end:recipe]
