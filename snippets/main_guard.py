"""The fixed `no_main_guard.py`: run `python snippets/main_guard.py`. Workers only import its functions."""

import torch
from torch.utils.data import DataLoader


# --8<-- [start:guard]
def main() -> None:
    """Print two batches that a worker process made."""
    loader = DataLoader(torch.arange(8), batch_size=4, num_workers=1, multiprocessing_context="spawn")
    for batch in loader:
        print(batch)


if __name__ == "__main__":
    main()
# --8<-- [end:guard]
