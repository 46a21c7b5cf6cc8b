"""Compute the one call that MPS lacks on the CPU, and say so."""

# --8<-- [start:recipe]
import torch

device = "mps" if torch.backends.mps.is_available() else "cpu"
matrix = torch.tensor([[2.0, 1.0], [1.0, 3.0]], device=device)

try:
    values, vectors = torch.linalg.eig(matrix)
except NotImplementedError as error:  # MPS has no kernel for it
    print("on the CPU instead:", str(error).split(" for the MPS")[0])
    values, vectors = (x.to(device) for x in torch.linalg.eig(matrix.cpu()))

print("eigenvalues:", sorted(round(value, 3) for value in values.real.tolist()))
# --8<-- [end:recipe]
