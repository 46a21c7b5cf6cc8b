"""Load batches with worker processes, started from a function under the main guard."""

# --8<-- [start:recipe]
import torch
from torch.utils.data import DataLoader, TensorDataset


def main():
    device = "mps" if torch.backends.mps.is_available() else "cpu"
    data = TensorDataset(torch.randn(512, 3, 32, 32), torch.arange(512))  # on the CPU
    workers = {"num_workers": 2, "persistent_workers": True}
    loader = DataLoader(data, batch_size=64, shuffle=True, drop_last=True, **workers)
    for epoch in range(2):
        for x, y in loader:
            x, y = x.to(device), y.to(device)  # here: your training step
        print(f"epoch {epoch}: {len(loader)} batches, the last on {x.device.type}")


if __name__ == "__main__":  # without this line, each worker would start main() again
    main()
# --8<-- [end:recipe]
