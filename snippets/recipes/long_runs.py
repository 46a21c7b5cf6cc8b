"""Finish the step and save when Ctrl-C or kill asks the process to end."""

# --8<-- [start:recipe]
import signal

import torch

step, stopped = 0, list[int]()
for number in (signal.SIGINT, signal.SIGTERM):  # Ctrl-C, and `kill`
    signal.signal(number, lambda number, frame: stopped.append(number))

model = torch.nn.Linear(4, 2)
optimizer = torch.optim.AdamW(model.parameters())
while step < 1000 and not stopped:  # a signal does not interrupt the step
    model(torch.randn(8, 4)).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    step += 1

state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
torch.save(state, "last.pt")
print("saved after step", step)
# --8<-- [end:recipe]
