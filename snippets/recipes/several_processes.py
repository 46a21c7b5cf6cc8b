"""Share a batch among the processes of torchrun; with plain python there is one."""

# --8<-- [start:recipe]
import os

import torch
from torch import distributed as dist

count, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
torch.manual_seed(0)  # the same weights and the same batch in all processes
model, batch = torch.nn.Linear(4, 1), torch.rand(12, 4)
if count > 1:
    dist.init_process_group("gloo")  # on CPUs; "nccl" on NVIDIA GPUs
    model = torch.nn.parallel.DistributedDataParallel(model)

model(batch[rank::count]).square().mean().backward()
gradient = next(model.parameters()).grad[0].tolist()
if rank == 0:
    print(f"processes: {count}, gradient: {[round(value, 4) for value in gradient]}")
# --8<-- [end:recipe]
