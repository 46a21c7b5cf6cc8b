"""Warm up, wait for the GPU before each reading of the clock, report the spread."""

# --8<-- [start:recipe]
import statistics
import time

import torch

device = "mps" if torch.backends.mps.is_available() else "cpu"
wait = torch.mps.synchronize if device == "mps" else lambda: None
a = torch.randn(1024, 1024, device=device)

times = []
for _ in range(40):
    wait()  # nothing is left to do when the clock starts
    start = time.perf_counter()
    b = a @ a  # what you want to measure
    wait()  # the GPU has finished when the clock stops
    times.append(1000 * (time.perf_counter() - start))

low, *between, high = statistics.quantiles(times[10:], n=10)  # the first 10 are warm-up
print(f"{device}: {statistics.median(times[10:]):.2f} ms ({low:.2f} to {high:.2f})")
# --8<-- [end:recipe]
