"""Record the calls of ten steps with torch.profiler and print the slowest."""

# --8<-- [start:recipe]
import torch
from torch.profiler import ProfilerActivity, profile

device = "mps" if torch.backends.mps.is_available() else "cpu"
model = torch.nn.Linear(512, 512).to(device)
x = torch.randn(256, 512, device=device)
model(x).square().mean().backward()  # the first step is not counted

with profile(activities=[ProfilerActivity.CPU]) as profiler:
    for _ in range(10):
        loss = model(x).square().mean()
        loss.backward()
    loss.item()  # waits for the GPU: aten::_local_scalar_dense takes that time

print("own ms  calls  name")
for call in sorted(profiler.key_averages(), key=lambda c: -c.self_cpu_time_total)[:5]:
    print(f"{call.self_cpu_time_total / 1000:6.2f} {call.count:6}  {call.key}")
# --8<-- [end:recipe]
