"""Save every 500 steps, and when Ctrl-C or kill asks the process to end."""

# --8<-- [start:recipe]
import signal
from pathlib import Path

import torch

model, step, steps, stopped, end = torch.nn.Linear(4, 2), 0, 1000, list[int](), False
optimizer = torch.optim.AdamW(model.parameters())
for number in (signal.SIGINT, signal.SIGTERM):  # Ctrl-C, and `kill`
    signal.signal(number, lambda number, frame: stopped.append(number))

while step < steps and not end:  # a signal does not interrupt the step
    model(torch.randn(8, 4)).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    step += 1
    if (end := bool(stopped)) or step % 500 == 0 or step == steps:  # read once a step
        torch.save([model.state_dict(), optimizer.state_dict(), step], "last.tmp")
        print("step", step, "is in", Path("last.tmp").replace("last.pt"))
# --8<-- [end:recipe]
