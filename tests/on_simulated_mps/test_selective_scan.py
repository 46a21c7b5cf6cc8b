"""The selective scan on the simulated MPS device: every operator is there, and memory stays within blocks."""

import gc

import pytest
import torch

from snippets import selective_scan as module
from snippets.selective_scan import selective_scan, selective_scan_reference
from tests.snippets.test_selective_scan import assert_close, make_inputs, run


@pytest.mark.parametrize("shape", [(4, 5, 24, 16), (2, 300, 6, 4), (2, 0, 5, 2)])
def test_equals_the_loop_on_the_cpu(shape):
    found = run(selective_scan, make_inputs(*shape, device="mps"))
    assert {value.device.type for value in found} == {"mps"}
    expected = run(selective_scan_reference, make_inputs(*shape))
    assert_close([value.cpu() for value in found], expected, 1e-5)


def test_autocast_changes_nothing():
    inputs = make_inputs(device="mps")
    expected = run(selective_scan, inputs)
    with torch.autocast("mps", torch.bfloat16):
        found = run(selective_scan, inputs)
    assert all(map(torch.equal, found, expected))


def test_memory_is_that_of_inputs_and_blocks(monkeypatch):
    monkeypatch.setitem(module.BLOCK, "mps", 2**14)
    inputs = make_inputs(2, 300, 64, 32, device="mps")

    def peak(scan):
        gc.collect()  # tensors in cycles that other tests left would be freed while the scan runs
        torch.accelerator.reset_peak_memory_stats()
        before = torch.mps.current_allocated_memory()
        run(scan, inputs)
        return torch.accelerator.max_memory_allocated() - before

    in_bytes = sum(value.nbytes for value in inputs)
    block = 4 * 2**14
    starts = 4 * 2 * 10 * 64 * 32  # of the chunks; two more of this size are there while they are computed
    most = 5 * in_bytes + 3 * block + 3 * starts  # copies, gradients and sums; three blocks
    assert peak(selective_scan) <= most
    assert peak(selective_scan_reference) > 2 * most
