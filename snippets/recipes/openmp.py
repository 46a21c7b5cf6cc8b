"""Run the other library in a process of its own, which never imports PyTorch."""

# --8<-- [start:recipe]
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

if __name__ == "__main__":  # the other process skips this, so PyTorch stays out
    import torch


def other_library(rows):  # here: import faiss, lightgbm or xgboost, and call it
    return [sum(row) for row in rows], "torch" in sys.modules


if __name__ == "__main__":
    rows = torch.arange(6.0).view(2, 3).tolist()  # large tensors: .cpu().numpy()
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        sums, torch_there = process.submit(other_library, rows).result()
    print(f"sums {sums}, PyTorch in the other process: {torch_there}")
# --8<-- [end:recipe]
