"""Train with Lightning on the device that it chooses."""

# An empty line would end the class where this is pasted into the interpreter.
# fmt: off
# --8<-- [start:recipe]
import pytorch_lightning as pl
import torch


class Network(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)
    def training_step(self, batch, index):
        return torch.nn.functional.mse_loss(self.layer(batch[:, 1:]), batch[:, :1])
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


batches = torch.utils.data.DataLoader(torch.randn(64, 9), batch_size=16)
off = ["logger", "enable_checkpointing", "enable_progress_bar", "enable_model_summary"]
trainer = pl.Trainer(accelerator="auto", max_epochs=2, **dict.fromkeys(off, False))
trainer.fit(Network(), batches)
print("device:", trainer.strategy.root_device.type, "| steps:", trainer.global_step)
# --8<-- [end:recipe]
# fmt: on
