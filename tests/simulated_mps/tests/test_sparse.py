"""Sparse tensors on the device: what the release's list names computes what the CPU does."""

import io

import pytest
import torch
from simulated_mps import device, report
from simulated_mps.kernels import releases, sparse_kernels
from torch import nn

MPS = torch.device("mps")


def matrix(place=MPS):
    """Return a sparse matrix of 2 × 3 with an element that is given twice."""
    positions, values = torch.tensor([[0, 1, 1, 1], [2, 0, 2, 2]]), torch.tensor([3.0, 4.0, 5.0, 1.0])
    return torch.sparse_coo_tensor(positions.to(place), values.to(place), (2, 3), check_invariants=True)


@pytest.mark.parametrize(
    "compute",
    [
        lambda s: s.to_dense(),
        lambda s: s.coalesce().values(),
        lambda s: s.coalesce().indices(),
        lambda s: (s + s).to_dense(),
        lambda s: (s * 2).sin().to_dense(),
        lambda s: torch.sparse.sum(s),
        lambda s: torch.sparse.mm(s, torch.ones(3, 2, device=s.device)),
        lambda s: torch.ones(2, 3, device=s.device).add_(s),
        lambda s: s.t().to_dense(),
        lambda s: s.clone().mul_(2).to_dense(),
        lambda s: s.to_dense().to_sparse().values(),
        lambda s: torch.sparse.softmax(s.coalesce(), 1).to_dense(),
        lambda s: torch.ones(2, 3, device=s.device).sparse_mask(s.coalesce()).values(),
    ],
)
def test_operators_compute_what_the_cpu_computes(compute):
    found = compute(matrix())
    assert found.device == torch.device("mps:0")
    torch.testing.assert_close(found.cpu(), compute(matrix("cpu")))


def test_sparse_tensors_move_and_are_saved():
    here = matrix("cpu").to(MPS)
    assert here.device.type == here.coalesce().values().device.type == "mps"
    assert torch.equal(here.cpu().to_dense(), matrix("cpu").to_dense())
    file = io.BytesIO()
    torch.save(here, file)
    file.seek(0)
    assert torch.load(file).device.type == "mps"
    assert "device='mps:0'" in repr(here)
    with pytest.raises(TypeError, match="doesn't support float64"):
        matrix("cpu").double().to(MPS)


def test_a_change_in_place_shows():
    tensor = matrix()
    tensor.add_(matrix())
    assert tensor.to_dense().tolist() == [[0, 0, 6], [8, 0, 12]]
    tensor.zero_()
    assert tensor.to_dense().tolist() == [[0] * 3] * 2


def test_embeddings_train_with_sparse_gradients():
    trained = []
    for place in ("cpu", MPS):
        torch.manual_seed(0)
        layer = nn.Embedding(5, 3, sparse=True).to(place)
        optimizer = torch.optim.SparseAdam(layer.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            layer(torch.tensor([1, 1, 2], device=place)).pow(2).sum().backward()
            assert layer.weight.grad.is_sparse
            optimizer.step()
        trained.append(layer.weight.detach().cpu())
    torch.testing.assert_close(trained[1], trained[0])


def test_the_report_counts_them_apart():
    before = report().with_kernel.get("aten::_coalesce (sparse)", 0)
    matrix().coalesce()
    assert report().with_kernel["aten::_coalesce (sparse)"] == before + 1


def test_operators_that_the_release_lacks_for_sparse_tensors():
    new = min(sparse_kernels("2.13") - sparse_kernels("2.9") & {"sin", "_sparse_softmax", "add.out", "erf"})
    assert new in sparse_kernels(None)
    assert [len(sparse_kernels(release)) > 0 for release in releases()] == [True] * len(releases())
    device.enable("2.9")
    try:
        with pytest.raises(
            NotImplementedError, match=r"Could not run 'aten::_sparse_softmax' with arguments"
        ):
            torch.sparse.softmax(matrix().coalesce(), 1)
    finally:
        device.enable(None)


def test_other_layouts_are_missing():
    with pytest.raises(NotImplementedError, match="_to_sparse_csr"):
        torch.eye(2, device=MPS).to_sparse_csr()
