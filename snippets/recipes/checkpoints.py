"""Save model, optimizer and step under another name, rename, and load again."""

# --8<-- [start:recipe]
import os

import torch

device = "mps" if torch.backends.mps.is_available() else "cpu"
model = torch.nn.Linear(4, 2).to(device)
optimizer = torch.optim.AdamW(model.parameters())
model(torch.ones(8, 4, device=device)).square().mean().backward()
optimizer.step()

state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": 1}
torch.save(state, "last.pt.tmp")
os.replace("last.pt.tmp", "last.pt")  # one step: the old file or the new one, no half

state = torch.load("last.pt", map_location="cpu", weights_only=True)
model.load_state_dict(state["model"])  # copies the values to where the weights are
optimizer.load_state_dict(state["optimizer"])
print("continue after step", state["step"])
# --8<-- [end:recipe]
