"""Choose the device once; move the model and every batch to it."""

# --8<-- [start:recipe]
import torch

cuda, mps = torch.cuda.is_available(), torch.backends.mps.is_available()
device = "cuda" if cuda else "mps" if mps else "cpu"
print("device:", device)

model = torch.nn.Linear(4, 2)
model.to(device)  # a module moves in place
batch = torch.ones(8, 4)
batch = batch.to(device)  # a tensor does not: keep what .to() returns
print("computed on:", model(batch).device.type)
# --8<-- [end:recipe]
