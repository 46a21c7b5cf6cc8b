"""The network of stage 1 and the layers of both: their size, their order, their numbers."""

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from examples.floorplan_diffusion.diffusion import Schedule, sample
from examples.floorplan_diffusion.layers import OF_PIXELS, OF_STEPS, Layer, Layers, sinusoids
from examples.floorplan_diffusion.node_network import CHANNELS, NodeNetwork, node_tensor
from examples.floorplan_diffusion.options import resolve_nodes
from examples.floorplan_diffusion.trained import build_nodes


def network_and_corners(batch=3, corners=7):
    torch.manual_seed(0)
    network = NodeNetwork(32, 3, 4).eval()
    return network, torch.randn(batch, corners, CHANNELS), torch.tensor([0, 400, 999])


def test_all_weights_are_float32():
    with torch.device("meta"):
        network = build_nodes(resolve_nodes({"size": "origin"}))
    assert {weights.dtype for weights in network.state_dict().values()} == {torch.float32}


@torch.no_grad()
def test_another_order_gives_the_same_noise_in_that_order():
    network, nodes, steps = network_and_corners()
    order = torch.randperm(7)
    assert order.tolist() != list(range(7))
    noise = network(nodes, steps)
    assert noise.shape == nodes.shape and noise.std() > 0.01
    torch.testing.assert_close(network(nodes[:, order], steps), noise[:, order], atol=1e-5, rtol=0)


@torch.no_grad()
def test_plans_of_a_batch_do_not_see_each_other():
    network, nodes, steps = network_and_corners()
    noise = network(nodes, steps)
    for index in range(3):
        alone = network(nodes[index : index + 1], steps[index : index + 1])
        torch.testing.assert_close(alone[0], noise[index], atol=1e-5, rtol=0)


@torch.no_grad()
@pytest.mark.parametrize("channel", range(CHANNELS))
def test_every_channel_of_one_corner_matters_to_all(channel):
    network, nodes, steps = network_and_corners()
    other = nodes.clone()
    other[:, 2, channel] += 0.5
    assert ((network(other, steps) - network(nodes, steps)).abs().amax((0, 2)) > 1e-5).all()


@torch.no_grad()
def test_the_step_matters():
    network, nodes, steps = network_and_corners()
    assert (network(nodes, steps + torch.tensor([1, 1, -1])) - network(nodes, steps)).abs().max() > 1e-4


class SeenTypes(TorchDispatchMode):
    """Notes the type of every tensor that an operator returns."""

    def __init__(self):
        super().__init__()
        self.types = set()

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        result = operator(*args, **(kwargs or {}))
        for one in result if isinstance(result, tuple | list) else (result,):
            if isinstance(one, torch.Tensor):
                self.types.add(one.dtype)
        return result


def test_nothing_becomes_float64_which_mps_does_not_have():
    network, nodes, steps = network_and_corners()
    schedule = Schedule(torch.device("cpu"))  # computed in float64, on the CPU, and stored in float32
    with SeenTypes() as seen:
        noise = network(schedule.add_noise(nodes, nodes, steps), steps)
        noise.square().mean().backward()
        with torch.no_grad():
            list(sample(network, schedule, (2, 5, CHANNELS), torch.Generator(), steps=4))
    assert torch.float32 in seen.types and torch.float64 not in seen.types
    with SeenTypes() as seen:
        nodes.double()
    assert torch.float64 in seen.types


# ---- The layers ----


@torch.no_grad()
def test_a_layer_is_what_the_guide_has():
    """Built from PyTorch's own modules: InstanceNorm1d of (batch, tokens, width), attention, two matrices."""
    torch.manual_seed(0)
    layer, x = Layer(16, 4), torch.randn(3, 5, 16) * 3 + 1
    norm = nn.InstanceNorm1d(5)  # takes the second axis for channels, which are the tokens here
    attention = nn.MultiheadAttention(16, 4, batch_first=True)
    attention.in_proj_weight.copy_(layer.qkv.weight)
    attention.in_proj_bias.copy_(layer.qkv.bias)
    attention.out_proj.load_state_dict(layer.out.state_dict())
    expected = x + attention(norm(x), norm(x), norm(x))[0]
    expected = expected + layer.down(layer.up(norm(expected)).relu())
    torch.testing.assert_close(layer(x), expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(Layers(16, 0, 4)(x), norm(x), atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_masked_tokens_are_not_seen():
    torch.manual_seed(0)
    layer, x = Layer(16, 4), torch.randn(2, 5, 16)
    mask = torch.tensor([[True, True, True, False, False], [True] * 5])[:, None, None]
    found = layer(x, mask)
    torch.testing.assert_close(found[:1, :3], layer(x[:1, :3]), atol=1e-5, rtol=0)
    torch.testing.assert_close(found[1:], layer(x[1:]), atol=1e-5, rtol=0)


def test_recomputed_layers_have_the_same_gradients():
    torch.manual_seed(0)
    kept, x = Layers(16, 3, 4), torch.randn(2, 5, 16)
    recomputed = Layers(16, 3, 4, recompute=True)
    recomputed.load_state_dict(kept.state_dict())
    for layers in (kept, recomputed):
        layers(x).square().sum().backward()
        layers(x)[:, 0].sum().backward()
    assert all(weights.grad.any() for weights in kept[0].parameters() if weights.ndim == 2)
    for (name, first), second in zip(kept.named_parameters(), recomputed.parameters(), strict=True):
        torch.testing.assert_close(first.grad, second.grad, msg=name)


def test_sinusoids_by_hand():
    found = sinusoids(torch.tensor([0.0, 100.0]), 6, 0.01)
    angles = [100.0, 10.0, 1.0]
    assert found[0].tolist() == [0, 0, 0, 1, 1, 1]
    expected = torch.tensor(angles)
    torch.testing.assert_close(found[1], torch.cat([expected.sin(), expected.cos()]), atol=1e-4, rtol=0)


@pytest.mark.parametrize(("values", "slowest"), [(range(256), OF_PIXELS), (range(1000), OF_STEPS)])
def test_sinusoids_tell_all_numbers_apart(values, slowest):
    points = sinusoids(torch.tensor(values), 32, slowest)
    apart = torch.cdist(points, points).fill_diagonal_(torch.inf)
    assert apart.min() > 0.4


# ---- What the diffusion sees ----


def test_corners_become_numbers_from_minus_one_to_one():
    corners = torch.tensor([[(0, 64), (255, 128), (0, 0)]], dtype=torch.uint8)
    kinds = torch.zeros(1, 3, 7, dtype=torch.bool)
    kinds[0, 0, 1] = kinds[0, 1, 6] = True
    found = node_tensor(corners, kinds, torch.tensor([[True, True, False]]))
    assert found.dtype == torch.float32
    assert found.tolist() == [
        [
            [-1, -0.5, -1, 1, -1, -1, -1, -1, -1, -1],
            [127 / 128, 0, -1, -1, -1, -1, -1, -1, 1, -1],
            [0, 0, -1, -1, -1, -1, -1, -1, -1, 1],
        ]
    ]
