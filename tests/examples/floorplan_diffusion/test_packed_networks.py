"""Networks in one small file: how exact they are, and what a damaged file gives."""

import numpy
import pytest
import torch

from examples.floorplan_diffusion import pack
from examples.floorplan_diffusion.packed_networks import BUNDLED, PARTS, rounded_rows, unpack
from examples.floorplan_diffusion.trained import EDGES, NODES, load_trained
from examples.programs.array_files import read_npz
from snippets.errors import UsageError


def test_weights_are_off_by_half_a_step():
    matrix = (
        torch.randn(40, 30, generator=torch.Generator().manual_seed(0)) * torch.logspace(-2, 2, 40)[:, None]
    )
    matrix[3] = 0
    rounded, scales = rounded_rows(matrix)
    off = (rounded * scales.float()[:, None] - matrix).abs()
    assert (off <= 0.505 * matrix.abs().amax(1, keepdim=True) / 127).all()  # 1%: the scale is rounded, too
    assert rounded.abs().max() == 127 and off.max() > 0


def test_packed_runs_are_read_as_checkpoints(both_stages, capsys):
    assert pack.main(["--out", "new/small.npz"]) == 0
    assert f"{(both_stages / 'new/small.npz').stat().st_size:,} bytes" in capsys.readouterr().out
    for stage in (NODES, EDGES):
        found, given = load_trained(stage, both_stages / "new/small.npz"), load_trained(stage, None)
        assert (found.options, found.places) == (given.options, given.places)
        for weight, exact in zip(found.network.parameters(), given.network.parameters(), strict=True):
            assert (weight - exact).abs().max() <= exact.abs().max() / 200
    with pytest.raises(UsageError, match="is there already"):
        pack.main(["--out", "new/small.npz"])


@pytest.mark.parametrize("part", [*PARTS, "cut"])
def test_a_damaged_file_is_one_line(both_stages, part):
    assert pack.main(["--out", "small.npz"]) == 0
    names = [f"{stage.program}_{name}" for stage in (NODES, EDGES) for name in PARTS]
    arrays = read_npz(both_stages / "small.npz", names)
    wrong = "about" if part == "cut" else part
    array = arrays[f"train_nodes_{wrong}"]
    arrays[f"train_nodes_{wrong}"] = array[:-9] if part != "about" else array.astype(numpy.int32)
    numpy.savez(both_stages / "bad.npz", **arrays)
    with pytest.raises(UsageError, match="holds no packed networks") as refused:
        load_trained(NODES, both_stages / "bad.npz")
    assert "\n" not in str(refused.value)


def test_the_bundled_networks_are_small():
    assert BUNDLED.stat().st_size <= 200_000
    for stage in (NODES, EDGES):
        arrays = read_npz(BUNDLED, [f"{stage.program}_{part}" for part in PARTS])
        weights, _ = unpack(dict(zip(PARTS, arrays.values(), strict=True)))
        assert all(weight.isfinite().all() for weight in weights.values())
        assert load_trained(stage, BUNDLED).places >= 19
