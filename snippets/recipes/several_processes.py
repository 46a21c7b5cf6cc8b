"""Share a batch among the processes of torchrun; with plain python there is one."""

# --8<-- [start:recipe]
import os

import torch
from torch import distributed as dist

count, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
torch.manual_seed(0)  # the same weights and the same batch in all processes
model, batch = torch.nn.Linear(4, 1), torch.rand(12, 4)
model(batch[rank::count]).square().mean().backward()

if count > 1:
    dist.init_process_group("gloo")  # on CPUs; "nccl" on NVIDIA GPUs
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad.div_(count))  # the mean over all processes
    dist.destroy_process_group()

if rank == 0:
    gradient = [round(value, 4) for value in model.weight.grad[0].tolist()]
    print(f"processes: {count}, gradient: {gradient}")
# --8<-- [end:recipe]
