"""Train two towers; each query should score its own document highest."""

# --8<-- [start:recipe]
import torch
from torch.nn import Linear, ModuleList
from torch.nn.functional import cross_entropy, normalize

device = "mps" if torch.backends.mps.is_available() else "cpu"
queries, own = torch.randn(500, 32, device=device), torch.arange(500, device=device)
documents = queries @ torch.randn(32, 32, device=device)  # row i belongs to query i
towers = ModuleList([Linear(32, 32), Linear(32, 32)]).to(device)
optimizer = torch.optim.AdamW(towers.parameters(), lr=0.01)
for _ in range(200):
    q, d = normalize(towers[0](queries)), normalize(towers[1](documents))
    loss = cross_entropy(q[:400] @ d[:400].T / 0.07, own[:400])  # 400 pairs learn
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()

print(((q @ d.T).argmax(1) == own)[400:].sum().item(), "of 100 others find their own")
# --8<-- [end:recipe]
