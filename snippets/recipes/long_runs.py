"""Finish the step and save when Ctrl-C or kill asks the process to end."""

# --8<-- [start:recipe]
import signal

import torch

stopped: list[int] = []
for number in (signal.SIGINT, signal.SIGTERM):  # Ctrl-C, and `kill`
    signal.signal(number, lambda number, frame: stopped.append(number))

model = torch.nn.Linear(4, 2)
for step in range(1, 1_000_001):
    model(torch.randn(8, 4)).square().mean().backward()  # here: your training step
    if step == 100:
        signal.raise_signal(signal.SIGTERM)  # the same signal as `kill`
    if stopped:  # the step is complete
        break

torch.save({"model": model.state_dict(), "step": step}, "last.pt")
print("saved after step", step, "because of", signal.Signals(stopped[0]).name)
# --8<-- [end:recipe]
