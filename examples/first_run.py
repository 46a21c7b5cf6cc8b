"""The smallest complete training: a network learns to read handwritten digits within seconds.

    python examples/first_run.py

It is the code of the notebook "First run": real data that scikit-learn carries (1,797 digits, no download),
the best device of this machine, and a figure, first-run.png, in the current folder.
Expect about 98 % of 360 held-out digits to be read correctly.
"""

import sys

if sys.argv[1:]:  # such as --help; there are no options
    from argparse import ArgumentParser, RawDescriptionHelpFormatter

    ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter).parse_args()

# --8<-- [start:script]
# --8<-- [start:setup]
import time

import torch
from matplotlib import pyplot
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
available = torch.accelerator.is_available()
device = torch.accelerator.current_accelerator() if available else torch.device("cpu")
print(f"PyTorch {torch.__version__} computes on: {device}")
# --8<-- [end:setup]

# --8<-- [start:data]
digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32) / 16  # (1797, 8, 8), from 0 to 1
labels = torch.tensor(digits.target)  # (1797,), from 0 to 9
images = images.unsqueeze(1).to(device)  # (1797, 1, 8, 8): one channel; 460 kB in all
labels = labels.to(device)

order = torch.randperm(len(images), device=device)
held_out, training = order[:360], order[360:]
print(f"{len(training)} digits to learn from, {len(held_out)} held out")
# --8<-- [end:data]

# --8<-- [start:model]
model = nn.Sequential(
    nn.Conv2d(1, 32, kernel_size=3, padding=1),
    nn.BatchNorm2d(32),
    nn.ReLU(),
    nn.Conv2d(32, 64, kernel_size=3, padding=1, stride=2),
    nn.BatchNorm2d(64),
    nn.ReLU(),
    nn.Flatten(),
    nn.Linear(64 * 4 * 4, 10),
).to(device)
print(f"{sum(parameter.numel() for parameter in model.parameters()):,} parameters")
# --8<-- [end:model]

# --8<-- [start:train]
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
epoch_losses = []
started = time.perf_counter()
for epoch in range(1, 9):
    total = torch.zeros((), device=device)  # summed there: reading a value makes the CPU wait
    shuffled = training[torch.randperm(len(training), device=device)]
    for batch in shuffled.split(64):
        loss = nn.functional.cross_entropy(model(images[batch]), labels[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.detach() * len(batch)
    epoch_losses.append(total.item() / len(training))
    print(f"epoch {epoch}: loss {epoch_losses[-1]:.4f}")
print(f"trained in {time.perf_counter() - started:.1f} s")
# --8<-- [end:train]

# --8<-- [start:evaluate]
model.eval()
with torch.no_grad():
    predictions = model(images[held_out]).argmax(dim=1)
correct = predictions == labels[held_out]
print(f"{correct.sum().item()} of {len(held_out)} held-out digits read correctly, ", end="")
print(f"{correct.float().mean():.1%}")
# --8<-- [end:evaluate]

# --8<-- [start:picture]
wrong_first = torch.argsort(correct.int(), stable=True)[:10]
figure, axes = pyplot.subplots(2, 5, figsize=(7, 3.4))
for axis, position in zip(axes.flat, wrong_first, strict=True):
    image = images[held_out[position]].squeeze().cpu()
    truth, read = labels[held_out[position]].item(), predictions[position].item()
    axis.imshow(image, cmap="gray_r")
    color = "black" if read == truth else "firebrick"
    axis.set_title(f"read {read}, is {truth}", color=color, fontsize=10)
    axis.axis("off")
figure.tight_layout()
figure.savefig("first-run.png", dpi=120)
# --8<-- [end:picture]
# --8<-- [end:script]
