"""A test of a LightningModule for any device: Lightning takes what the machine has."""

# --8<-- [start:tests]
import pytorch_lightning as pl
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Classifier(pl.LightningModule):
    """A stand-in for your module."""

    def __init__(self):
        super().__init__()
        self.network = nn.Linear(8, 4)

    def training_step(self, batch, index):
        """Return the loss; `log` keeps its running mean."""
        loss = nn.functional.cross_entropy(self.network(batch[0]), batch[1])
        self.log("loss", loss.detach(), on_epoch=True)
        return loss

    def configure_optimizers(self):
        """Return the optimizer."""
        return torch.optim.AdamW(self.parameters(), lr=1e-2)


def test_lightning_trains(tmp_path):
    """Finds what a step and Lightning's own loop call that MPS does not have."""
    data = TensorDataset(torch.randn(32, 8), torch.arange(32) % 4)
    trainer = pl.Trainer(max_epochs=2, gradient_clip_val=1.0, default_root_dir=tmp_path, logger=False)
    trainer.fit(Classifier(), DataLoader(data, batch_size=8))
    assert trainer.global_step == 8


# --8<-- [end:tests]
