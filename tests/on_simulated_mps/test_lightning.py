"""Lightning on the simulated MPS device: what it chooses, what it refuses, and whether autocast is on."""

import lightning_fabric
import numpy
import pytest
import pytorch_lightning as pl
import torch
from pytorch_lightning.accelerators import MPSAccelerator
from pytorch_lightning.callbacks import LearningRateMonitor
from pytorch_lightning.loggers import CSVLogger
from pytorch_lightning.utilities.exceptions import MisconfigurationException
from torch.utils.data import DataLoader, TensorDataset

from snippets.lightning_on_mac import Network, OrderByEpoch, train

FLOAT64 = "Cannot convert a MPS Tensor to float64 dtype"


def batches(dtype: torch.dtype = torch.float32) -> DataLoader:
    samples = TensorDataset(torch.randn(16, 8, dtype=dtype), torch.randn(16, 1, dtype=dtype))
    return DataLoader(samples, batch_size=4, sampler=OrderByEpoch(16, seed=3))


def trainer(**options: object) -> pl.Trainer:
    silent = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
    return pl.Trainer(**(silent | {"max_steps": 2} | options))


@pytest.mark.parametrize("accelerator", ["auto", "gpu", "mps"])
@pytest.mark.parametrize("precision", ["32-true", "bf16-mixed", "16-mixed"])
def test_precision_string_trains_on_mps_with_its_autocast(tmp_path, accelerator, precision):
    model = Network()  # its training_step checks autocast
    used = train(model, batches(), tmp_path, 1, precision, accelerator)
    assert used.strategy.root_device == torch.device("mps", 0)
    assert type(used.strategy).__name__ == "SingleDeviceStrategy"
    assert used.global_step == 2
    assert {weight.dtype for weight in model.parameters()} == {torch.float32}
    train(model, batches(), tmp_path, 2, precision, accelerator)  # goes on, with the scaler's state


@pytest.mark.parametrize(("alias", "meaning"), [("bf16", "bf16-mixed"), ("16", "16-mixed"), (32, "32-true")])
def test_words_of_1_x_are_aliases(alias, meaning):
    assert trainer(accelerator="mps", precision=alias).precision == meaning


def test_an_accelerator_object_switches_autocast_off():
    with pytest.raises(RuntimeError, match="precision is 'bf16-mixed', but autocast is off for mps"):
        trainer(accelerator=MPSAccelerator(), devices=1, precision="bf16-mixed").fit(Network(), batches())


def test_true_precision_converts_the_weights():
    class Plain(Network):
        def training_step(self, batch, index):
            self.seen = self.layers[0].weight.dtype, self.layers(batch[0]).dtype
            return self.layers(batch[0]).float().mean()

    model = Plain()
    trainer(accelerator="mps", precision="bf16-true").fit(model, batches())
    assert model.seen == (torch.bfloat16, torch.bfloat16)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"devices": 2},
            MisconfigurationException,
            "You requested gpu: [0, 1]\n But your machine only has: [0]",
        ),
        ({"strategy": "ddp"}, ValueError, "DDP family are not supported on the MPS accelerator"),
        ({"strategy": "fsdp"}, ValueError, "The strategy `fsdp` requires a GPU accelerator"),
        ({"precision": "fp16"}, ValueError, "Precision 'fp16' is invalid"),
    ],
)
def test_what_the_trainer_refuses(options, error, message):
    with pytest.raises(error) as raised:
        trainer(accelerator="mps", **options)
    assert message in str(raised.value)


def test_float64_is_refused():
    with pytest.raises(TypeError, match=FLOAT64):
        trainer(accelerator="mps", precision="64-true").fit(Network(), batches())
    with pytest.raises(TypeError, match=FLOAT64):
        trainer(accelerator="mps").fit(Network(), batches(torch.float64))


class Scheduled(Network):
    """Its learning rate is a number of NumPy, as in schedules that compute with NumPy."""

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: numpy.float64(0.5))
        return [optimizer], [{"scheduler": scheduler, "interval": "step"}]


def test_learning_rate_monitor_fails_with_a_rate_of_numpy(tmp_path):
    options = {"logger": CSVLogger(tmp_path), "callbacks": [LearningRateMonitor()], "log_every_n_steps": 1}
    trainer(accelerator="cpu", **options).fit(Scheduled(), batches())
    with pytest.raises(TypeError, match=FLOAT64):
        trainer(accelerator="mps", **options).fit(Scheduled(), batches())


@pytest.mark.parametrize("value", [1.5, numpy.float64(1.5), torch.tensor(1.5, dtype=torch.float64)])
def test_logged_numbers_may_be_float64(value):
    class Logging(Network):
        def on_train_batch_end(self, *_):
            self.log("number", value, on_step=True, on_epoch=True)

    used = trainer(accelerator="mps", max_steps=-1, max_epochs=1)
    used.fit(Logging(), batches())
    assert used.callback_metrics["number_epoch"] == 1.5


@pytest.fixture
def asked_again():
    """Let Lightning look for MPS once more: it remembers the first answer."""
    found = lightning_fabric.accelerators.MPSAccelerator.is_available
    found.cache_clear()
    yield
    found.cache_clear()


def test_disable_mps_takes_the_cpu(monkeypatch, asked_again):
    monkeypatch.setenv("DISABLE_MPS", "1")
    assert trainer(accelerator="auto").strategy.root_device.type == "cpu"
    with pytest.raises(MisconfigurationException, match="`MPSAccelerator` can not run on your system"):
        trainer(accelerator="mps")


def test_a_python_that_reports_another_processor_takes_the_cpu(monkeypatch, asked_again):
    monkeypatch.setattr("platform.processor", lambda: "i386")
    assert trainer(accelerator="auto").strategy.root_device.type == "cpu"
