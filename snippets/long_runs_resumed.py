"""The loop of snippets/recipes/long_runs.py, which begins where the saved file ends."""

import signal

import torch

step, stopped = 0, list[int]()
for number in (signal.SIGINT, signal.SIGTERM):  # Ctrl-C, and `kill`
    signal.signal(number, lambda number, frame: stopped.append(number))

model = torch.nn.Linear(4, 2)
optimizer = torch.optim.AdamW(model.parameters())
# --8<-- [start:go_on]
try:
    state = torch.load("last.pt", map_location="cpu", weights_only=True)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    step = state["step"]
    print("goes on after step", step)
except FileNotFoundError:
    print("begins, because there is no last.pt")

# --8<-- [end:go_on]
while step < 1000 and not stopped:  # a signal does not interrupt the step
    model(torch.randn(8, 4)).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    step += 1

state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
torch.save(state, "last.pt")
print("saved after step", step)
