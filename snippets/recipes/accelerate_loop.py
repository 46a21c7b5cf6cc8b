"""Train with a loop of your own and Accelerate, which moves network and batches."""

# --8<-- [start:recipe]
import torch
from accelerate import Accelerator

torch.manual_seed(0)
accelerator = Accelerator()
model = torch.nn.Linear(8, 1)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
batches = torch.utils.data.DataLoader(torch.randn(64, 9), batch_size=16)
model, optimizer, batches = accelerator.prepare(model, optimizer, batches)

for _ in range(2):
    for batch in batches:
        loss = (model(batch[:, 1:]) - batch[:, :1]).square().mean()
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()

print("device:", accelerator.device, "| loss:", f"{loss.item():.2f}")
# --8<-- [end:recipe]
