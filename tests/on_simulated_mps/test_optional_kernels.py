"""What replaces CUDA packages, on the simulated MPS device: every operator is there, values as on the CPU."""

import pytest
import torch

from snippets import optional_kernels

INPUTS = {
    "attention": [(2, 5, 3, 4)] * 3,
    "scan": [(2, 7, 3), (2, 7, 3), (3, 4), (2, 7, 4), (2, 7, 4), (3,)],
    "causal_conv1d": [(2, 3, 6), (3, 4), (3,)],
    "scatter_sum": [(3, 2)],
}
CONSTANTS = {"scatter_sum": (torch.tensor([2, 0, 2]), 3)}


@pytest.mark.parametrize("name", INPUTS)
def test_equals_the_cpu(name):
    function, generator = getattr(optional_kernels, name), torch.Generator().manual_seed(0)
    tensors = [torch.randn(shape, generator=generator) for shape in INPUTS[name]]
    results = {}
    for device in ("cpu", "mps"):
        inputs = [tensor.to(device).requires_grad_() for tensor in tensors]
        constants = [x.to(device) if isinstance(x, torch.Tensor) else x for x in CONSTANTS.get(name, ())]
        found = function(*inputs, *constants)
        assert found.device.type == device
        results[device] = [y.cpu() for y in (found, *torch.autograd.grad(found.square().sum(), inputs))]
    torch.testing.assert_close(results["mps"], results["cpu"], atol=1e-5, rtol=1e-5)
