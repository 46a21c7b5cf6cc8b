"""Lightning on the CPU: accumulation, the same weights after a resume, and autocast that is off unnoticed."""

import csv
import warnings
from pathlib import Path

import pytest
import pytorch_lightning as pl
import torch
from pytorch_lightning.plugins import MixedPrecision
from torch.utils.data import DataLoader, TensorDataset

from snippets.lightning_on_mac import Network, OrderByEpoch, train

pytestmark = pytest.mark.program

SAMPLES = TensorDataset(
    torch.randn(32, 8, generator=torch.Generator().manual_seed(1)),
    torch.randn(32, 1, generator=torch.Generator().manual_seed(2)),
)


def ordered() -> DataLoader:
    return DataLoader(SAMPLES, batch_size=4, sampler=OrderByEpoch(32, seed=3))


def shuffled() -> DataLoader:
    return DataLoader(SAMPLES, batch_size=4, shuffle=True)


def trained(folder: Path, batches: DataLoader, *epochs: int, **options: str) -> dict[str, torch.Tensor]:
    """Train in one or more starts, each in the state of a fresh process; return the weights."""
    for until in epochs:
        pl.seed_everything(0, verbose=False)
        model = Network()
        train(model, batches, folder, until, accelerator="cpu", **options)
    return model.state_dict()


def equal(a: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(a[name], b[name]) for name in a)


def test_a_resumed_run_ends_with_the_same_weights(tmp_path):
    whole = trained(tmp_path / "whole", ordered(), 4)
    assert equal(trained(tmp_path / "parts", ordered(), 2, 4), whole)
    assert not equal(trained(tmp_path / "other", ordered(), 2), whole)


def test_shuffled_resume_repeats_the_first_epochs_order(tmp_path):
    whole = trained(tmp_path / "whole", shuffled(), 4)
    assert not equal(trained(tmp_path / "parts", shuffled(), 2, 4), whole)


def test_two_batches_make_a_step_and_metrics_continue(tmp_path):
    trained(tmp_path, ordered(), 1, 2)
    last = torch.load(tmp_path / "checkpoints/last.ckpt", weights_only=True)
    assert (last["global_step"], last["epoch"]) == (8, 1)  # 8 batches in an epoch
    files = sorted(tmp_path.glob("metrics/version_*/metrics.csv"))
    rows = [list(csv.DictReader(path.open(encoding="utf-8"))) for path in files]
    assert [[int(row["step"]) for row in part] for part in rows] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert all(float(row["loss"]) > 0 for part in rows for row in part)


def test_autocast_is_on(tmp_path):
    weights = trained(tmp_path, ordered(), 1, precision="bf16-mixed")
    assert {weight.dtype for weight in weights.values()} == {torch.float32}


def test_autocast_for_another_device_is_noticed():
    """What Lightning 2.0 to 2.5 did on MPS: autocast for CUDA. PyTorch only warns."""
    plugin = MixedPrecision("bf16-mixed", device="cuda")
    trainer = pl.Trainer(
        accelerator="cpu", plugins=plugin, max_steps=1, logger=False, enable_checkpointing=False
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if torch.cuda.is_available():
            pytest.skip("autocast for CUDA is on here")
        with pytest.raises(RuntimeError, match="precision is 'bf16-mixed', but autocast is off for cpu"):
            trainer.fit(Network(), ordered())
