"""The loop of snippets/recipes/long_runs.py, which begins where the saved file ends."""

import signal
from pathlib import Path

import torch

model, step, steps, stopped, end = torch.nn.Linear(4, 2), 0, 1000, list[int](), False
optimizer = torch.optim.AdamW(model.parameters())
for number in (signal.SIGINT, signal.SIGTERM):  # Ctrl-C, and `kill`
    signal.signal(number, lambda number, frame: stopped.append(number))

# --8<-- [start:go_on]
try:
    weights, moments, step = torch.load("last.pt", map_location="cpu", weights_only=True)
    model.load_state_dict(weights)
    optimizer.load_state_dict(moments)
    print("goes on after step", step)
except FileNotFoundError:
    print("begins, because there is no last.pt")

# --8<-- [end:go_on]
while step < steps and not end:  # a signal does not interrupt the step
    model(torch.randn(8, 4)).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    step += 1
    if (end := bool(stopped)) or step % 500 == 0 or step == steps:  # read once a step
        torch.save([model.state_dict(), optimizer.state_dict(), step], "last.tmp")
        print("step", step, "is in", Path("last.tmp").replace("last.pt"))
