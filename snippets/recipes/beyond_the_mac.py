"""Estimate how long a training takes on one machine, and on several that share it."""

# --8<-- [start:recipe]
parameters = 124e6  # sum(p.numel() for p in model.parameters())
step, steps = 1.0, 60_000  # seconds per step, measured on one machine; number of steps
machines, speed = 2, 10  # how many share each batch; Gbit/s of the network

gradients = 4 * parameters  # bytes in float32
traffic = 2 * (machines - 1) / machines * gradients  # that each machine sends in a step
network = 8 * traffic / (speed * 1e9)
hours = [seconds * steps / 3600 for seconds in (step, step / machines + network)]
print(f"one machine: {hours[0]:.0f} h")
print(f"{machines} machines: {hours[1]:.0f} h, network {network:.2f} s per step")
# --8<-- [end:recipe]
