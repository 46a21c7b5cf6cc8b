"""Operators that PyTorch's list does not name: torchvision's own, and those of distributed training."""

import pytest
import torch
from simulated_mps import device, kernels

MPS = torch.device("mps")
BOXES, SCORES = torch.ones(2, 4), torch.tensor([0.5, 0.9])
ELSEWHERE = "Expected all tensors to be on the same device"


@pytest.fixture(scope="module")
def torchvision():
    """Return torchvision's operators: those of these names, with kernels on the CPU, stand for them."""
    library = torch.library.Library("torchvision", "FRAGMENT")
    for name, kernel in {
        "nms": lambda boxes, scores, _: scores.argmax()[None],
        "roi_align_of_none": lambda boxes, scores, _: scores,
    }.items():
        library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        library.impl(name, kernel, "CPU")
    yield torch.ops.torchvision
    library._destroy()


def test_torchvisions_kernels_compute_on_the_device(torchvision):
    found = torchvision.nms(BOXES.to(MPS), SCORES.to(MPS), 0.5)
    assert found.device.type == "mps"
    assert found.tolist() == [1]
    with pytest.raises(RuntimeError, match=ELSEWHERE):
        torchvision.nms(BOXES.to(MPS), SCORES, 0.5)


def test_other_operators_of_torchvision_are_missing(torchvision):
    assert "torchvision::_deform_conv2d_backward" not in kernels.OF_TORCHVISION
    with pytest.raises(NotImplementedError, match="torchvision::roi_align_of_none"):
        torchvision.roi_align_of_none(BOXES.to(MPS), SCORES.to(MPS), 0.5)


@pytest.mark.parametrize(
    ("release", "text"), [("2.10", "The operator 'c10d::broadcast_'"), ("2.11", "The distributed operator")]
)
@pytest.mark.parametrize("fallback", ["0", "1"])
def test_distributed_operators_never_fall_back_from_2_11(release, text, fallback, monkeypatch):
    monkeypatch.setenv("PYTORCH_ENABLE_MPS_FALLBACK", fallback)
    device.enable(release)
    try:
        if release == "2.11" or fallback == "0":
            with pytest.raises(NotImplementedError, match=text):
                broadcast()
    finally:
        monkeypatch.undo()
        device.enable(None)


def broadcast():
    """Call an operator of distributed training on the device, without a group."""
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    try:
        torch.distributed.broadcast(torch.ones(1, device=MPS), 0)
    finally:
        torch.distributed.destroy_process_group()
