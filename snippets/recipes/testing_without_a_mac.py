"""A test that runs on every device of the machine, with pytest or alone."""

# --8<-- [start:recipe]
import torch

DEVICES = ["cpu", "mps"] if torch.backends.mps.is_available() else ["cpu"]


def test_a_step_runs_on_every_device():
    for device in DEVICES:
        model = torch.nn.Linear(4, 2).to(device)
        model(torch.ones(3, 4, device=device)).square().mean().backward()
        assert model.weight.grad.device.type == device
        assert model.weight.grad.isfinite().all()


if __name__ == "__main__":  # pytest calls the function itself
    test_a_step_runs_on_every_device()
    print("passed on", ", ".join(DEVICES))
# --8<-- [end:recipe]
