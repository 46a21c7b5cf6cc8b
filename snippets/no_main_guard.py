"""A mistake: `python snippets/no_main_guard.py` fails because its worker runs the whole script again."""

import torch
from torch.utils.data import DataLoader

# --8<-- [start:no_guard]
loader = DataLoader(torch.arange(8), batch_size=4, num_workers=1, multiprocessing_context="spawn")
for batch in loader:
    print(batch)
# --8<-- [end:no_guard]
