"""What the real device accepts and refuses, and that the rest computes what the CPU does."""

import copy
import io
import platform
from multiprocessing.reduction import ForkingPickler

import pytest
import torch
from torch import nn
from torch.nn import functional as F

MPS = torch.device("mps")


def both(compute, *shapes, seed=0):
    """Return what `compute` gives for equal random inputs on the CPU and on the device."""
    torch.manual_seed(seed)
    inputs = [torch.randn(shape) for shape in shapes]
    return compute(*inputs), compute(*(tensor.to(MPS) for tensor in inputs))


def assert_equal(expected, found):
    """Allow for a few roundings: some operators are composed of others on every device but the CPU."""
    assert found.device == torch.device("mps:0")
    torch.testing.assert_close(found.cpu(), expected)


def test_pytorch_finds_the_device():
    assert torch.backends.mps.is_built()
    assert torch.backends.mps.is_available()
    assert torch.mps.device_count() == 1
    assert torch.accelerator.current_accelerator().type == "mps"
    assert torch.zeros(2).to("mps").device == torch.device("mps", 0)
    assert torch.zeros(1).device.type == "cpu"  # still the default


@pytest.mark.parametrize(
    "compute",
    [
        lambda x, y: x @ y.T,
        lambda x, y: (x + y).softmax(-1).log().sum(0),
        lambda x, y: torch.cat([x, y]).sort(dim=1).values[1:, ::2],
        lambda x, y: x[:, None, :].expand(-1, 3, -1).permute(2, 0, 1).reshape(-1),
        lambda x, y: torch.where(x > y, x, y)[x.argmax(1) > 1],
        lambda x, y: x.clone().index_add_(0, torch.tensor([0, 0], device=x.device), y[:2]),
        lambda x, y: F.layer_norm(x, (5,)) * F.gelu(y),
        lambda x, y: torch.fft.rfft(x).abs() + torch.fft.rfft(y).real,
        lambda x, y: torch.einsum("ij,kj->ik", x, y).tril().cumsum(1),
        lambda x, y: torch.add(x, y, out=torch.empty(0, device=x.device)),
        lambda x, y: (x * 1j).conj().imag,
    ],
)
def test_operators_compute_what_the_cpu_computes(compute):
    assert_equal(*both(compute, (4, 5), (4, 5)))


def test_lightning_finds_the_device():
    """The condition of Lightning's MPSAccelerator.is_available(); else accelerator="auto" takes the CPU."""
    assert torch.backends.mps.is_available() and platform.processor() in ("arm", "arm64")


def test_views_share_memory_and_changes_show():
    base = torch.zeros(2, 3, device=MPS)
    view = base.t()[1]
    view += 1
    base[0, :2].mul_(5)
    base.view(-1)[5:] = 7
    assert base.tolist() == [[0, 5, 0], [0, 1, 7]]
    assert view.data_ptr() == base[:, 1].data_ptr()


def test_resizing_follows():
    tensor = torch.ones(2, device=MPS)
    other = tensor.detach()
    tensor.resize_(4).fill_(3)
    assert tensor.tolist() == [3, 3, 3, 3]
    assert other.shape == (2,)
    assert tensor.untyped_storage().nbytes() == 16


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_double_precision_is_refused(dtype):
    for make in (lambda: torch.ones(2, device=MPS, dtype=dtype), lambda: torch.ones(2, dtype=dtype).to(MPS)):
        with pytest.raises(TypeError, match="MPS"):
            make()
    with pytest.raises(TypeError, match="Cannot convert a MPS Tensor to float64 dtype as the MPS framework"):
        torch.ones(2, device=MPS).double()


def test_tensors_on_two_devices_do_not_mix():
    with pytest.raises(RuntimeError, match="found at least two devices, mps:0 and cpu"):
        torch.ones(3, device=MPS) + torch.ones(3)
    assert (torch.ones(2, device=MPS) * torch.tensor(2.0)).tolist() == [2, 2]  # a number may be on the CPU
    assert torch.arange(4, device=MPS)[torch.tensor([1, 3])].tolist() == [1, 3]  # and so may indices
    with pytest.raises(TypeError, match="can't convert mps:0 device type tensor to numpy"):
        torch.ones(2, device=MPS).numpy()


def test_a_missing_operator_raises_the_real_error():
    with pytest.raises(NotImplementedError) as caught:
        torch.linalg.eig(torch.eye(2, device=MPS))
    text = str(caught.value)
    assert text.startswith("The operator 'aten::linalg_eig' is not currently implemented for the MPS device.")
    assert "https://github.com/pytorch/pytorch/issues/141287" in text
    assert "`PYTORCH_ENABLE_MPS_FALLBACK=1`" in text


def test_random_numbers_are_reproducible_and_apart_from_the_cpu():
    torch.manual_seed(5)
    first, state = torch.rand(3, device=MPS), torch.mps.get_rng_state()
    second = torch.rand(3, device=MPS)
    torch.rand(100)  # the CPU's own numbers
    torch.mps.set_rng_state(state)
    assert torch.equal(torch.rand(3, device=MPS), second)
    torch.manual_seed(5)
    assert torch.equal(torch.rand(3, device=MPS), first)
    generator = torch.Generator(device="mps").manual_seed(1)
    again = torch.Generator(device="mps").manual_seed(1)
    drawn = [torch.randn(3, device=MPS, generator=one) for one in (generator, again)]
    assert torch.equal(*drawn)
    assert generator.device.type == "mps"
    with pytest.raises(RuntimeError, match="Expected a 'mps' device type for generator but found 'cpu'"):
        torch.rand(2, device=MPS, generator=torch.Generator())


def test_checkpoints_carry_the_tag():
    file = io.BytesIO()
    torch.save({"weights": torch.arange(3.0, device=MPS)}, file)
    assert b"mps" in file.getvalue()
    file.seek(0)
    assert torch.load(file)["weights"].device.type == "mps"
    file.seek(0)
    on_cpu = torch.load(file, map_location="cpu", weights_only=True)["weights"]
    assert on_cpu.device.type == "cpu"
    assert on_cpu.tolist() == [0, 1, 2]


def test_memory_is_counted():
    before = torch.mps.current_allocated_memory()
    tensor = torch.zeros(1000, device=MPS)
    doubled = tensor * 2
    assert torch.mps.current_allocated_memory() - before == 8000
    view = doubled[10:]
    del tensor, doubled
    assert torch.mps.current_allocated_memory() - before == 4000  # the view keeps its memory
    del view
    assert torch.mps.current_allocated_memory() == before


def test_the_accelerators_statistics():
    torch.accelerator.reset_peak_memory_stats()
    before = torch.accelerator.memory_allocated()
    assert before == torch.mps.current_allocated_memory()
    torch.zeros(500, device=MPS)
    assert torch.accelerator.memory_allocated() == before
    assert torch.accelerator.max_memory_allocated() == before + 2000


def test_pinning_is_refused_as_on_mps():
    loader = torch.utils.data.DataLoader(torch.arange(4.0), pin_memory=True)
    with pytest.warns(UserWarning, match="pin_memory.*not supported on MPS"):
        assert len(list(loader)) == 4


def test_tensors_do_not_cross_to_other_processes():
    with pytest.raises(RuntimeError, match="only available on CPU"):
        ForkingPickler.dumps(torch.ones(2, device=MPS))


def trained(make, shape, device, dtype=None):
    """Return the losses of three steps of a network on `device`."""
    torch.manual_seed(0)
    network = make()
    network = copy.deepcopy(network).to(device)
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-2)
    losses = []
    for _ in range(3):
        inputs = torch.randn(shape).to(device)
        with torch.autocast(device.type, dtype=dtype or torch.bfloat16, enabled=dtype is not None):
            outputs = network(inputs)
            loss = (outputs[0] if isinstance(outputs, tuple) else outputs).float().pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def small_image_network():
    """Return convolution, normalisation, pooling and a linear layer for images of 3×8×8."""
    return nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(72, 3)
    )


def upsampling_network():
    """Return a transposed convolution and a normalisation by groups."""
    return nn.Sequential(nn.ConvTranspose2d(3, 4, 3, stride=2), nn.GroupNorm(2, 4))


NETWORKS = {
    "convolution": (small_image_network, (5, 3, 8, 8)),
    "transposed": (upsampling_network, (2, 3, 5, 5)),
    "lstm": (lambda: nn.LSTM(4, 8, num_layers=2, batch_first=True), (5, 7, 4)),
    "attention": (lambda: nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True), (5, 7, 8)),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_train_as_on_the_cpu(name):
    make, shape = NETWORKS[name]
    expected = trained(make, shape, torch.device("cpu"))
    assert trained(make, shape, MPS) == pytest.approx(expected, rel=1e-5)


def test_autocast_computes_in_low_precision():
    for dtype in (torch.bfloat16, torch.float16):
        with torch.autocast("mps", dtype=dtype):
            product = torch.ones(2, 2, device=MPS) @ torch.ones(2, 2, device=MPS)
            assert product.dtype == dtype
            assert product.softmax(0).dtype == torch.float32
    make, shape = NETWORKS["convolution"]
    assert trained(make, shape, MPS, torch.bfloat16)[-1] < 10


def test_gradients_are_scaled():
    layer, scaler = nn.Linear(4, 2).to(MPS), torch.amp.GradScaler("mps", init_scale=4.0)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    before = layer.bias.detach().clone()
    scaler.scale(layer(torch.ones(3, 4, device=MPS)).mean()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert torch.allclose(layer.bias, before - 0.1 / 2)
    layer.weight.grad.fill_(torch.inf)
    scaler.scale(torch.ones((), device=MPS))
    scaler.step(optimizer)
    scaler.update()
    assert scaler.get_scale() == 2.0


def set_by_mask(x):
    """Set elements as TorchScript passes indices: as any list."""
    x[x < 1] = 5.0
    return x


def add_by_index(x, rows):
    """Add at positions of the second dimension."""
    return torch.ops.aten.index_put_(x, [None, rows], torch.ones(1, device=x.device), True)


def test_torchscript_passes_indices():
    scripted = torch.jit.script(set_by_mask)
    assert scripted(torch.arange(3.0, device=MPS)).tolist() == [5, 1, 2]
    rows = torch.tensor([1], device=MPS)
    assert torch.jit.trace(add_by_index, (torch.zeros(1, 2, device=MPS), rows))(
        torch.zeros(1, 2, device=MPS), rows
    ).tolist() == [[0, 1]]
