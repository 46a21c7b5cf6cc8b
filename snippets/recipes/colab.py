"""Find out whether a program runs in Colab, and on which GPU."""

# --8<-- [start:recipe]
from importlib.util import find_spec

import torch

colab = find_spec("google") and find_spec("google.colab")
cuda = torch.cuda.is_available()
print("in Colab:", "yes" if colab else "no")
print("NVIDIA GPU:", torch.cuda.get_device_name() if cuda else "none")
# --8<-- [end:recipe]
