"""Trainer and Accelerate on the simulated MPS device: device, precision, workers, checkpoints, what fails."""

import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState
from simulated_mps.device import enable
from torch import nn
from torch.utils.data import DataLoader

from snippets.trainer_on_mac import KeepRandomState, RandomState, print_precision
from tests.tiny_trainer import tiny_trainer, trained_weights

ROOT = Path(__file__).resolve().parents[2]
MPS_DEVICE = torch.device("mps")


@pytest.fixture(autouse=True)
def fresh_accelerator():
    """Let Accelerate choose anew: it remembers its device and precision for the whole process."""
    AcceleratorState._reset_state(reset_partial_state=True)
    yield
    AcceleratorState._reset_state(reset_partial_state=True)
    os.environ.pop("PYTORCH_ENABLE_MPS_FALLBACK", None)


@pytest.fixture
def as_release():
    """Return what chooses a release of PyTorch; the own one comes back afterwards."""
    yield enable
    enable(None)


def test_trainer_takes_mps(tmp_path):
    trainer = tiny_trainer(tmp_path)
    trainer.train()
    assert trainer.args.device == trainer.accelerator.device == MPS_DEVICE
    assert trainer.model.device.type == "mps"


def test_use_cpu_takes_the_cpu(tmp_path):
    trainer = tiny_trainer(tmp_path, use_cpu=True)
    trainer.train()
    assert trainer.args.device == trainer.accelerator.device == trainer.model.device == torch.device("cpu")


@pytest.mark.parametrize(
    ("release", "message"),
    [
        ("2.13", "Placeholder storage has not been allocated on MPS device"),
        ("2.15", "Passed CPU tensor to MPS op"),
    ],
)
def test_the_variable_is_for_accelerate_alone(tmp_path, monkeypatch, as_release, release, message):
    as_release(release)
    monkeypatch.setenv("ACCELERATE_USE_CPU", "true")
    assert Accelerator().device == torch.device("cpu")
    trainer = tiny_trainer(tmp_path)
    assert (trainer.args.device.type, trainer.accelerator.device.type) == ("mps", "cpu")
    with pytest.raises(RuntimeError, match=message):
        trainer.train()
    assert trainer.model.device.type == "cpu"  # the batches are on MPS


def test_an_argument_takes_the_cpu_for_accelerate():
    assert Accelerator(cpu=True).device == torch.device("cpu")


def test_the_scaler_of_fp16_needs_weights_in_float32(tmp_path):
    trainer = tiny_trainer(tmp_path, fp16=True)
    trainer.model.to(torch.float16)
    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
        trainer.train()


@pytest.mark.long
@pytest.mark.parametrize(("option", "device"), [([], "mps"), (["--cpu"], "cpu")])
def test_accelerate_launch_chooses_the_device(tmp_path, option, device):
    script = tmp_path / "script.py"
    script.write_text("from accelerate import Accelerator\nprint('device:', Accelerator().device)\n")
    command = [sys.executable, "-m", "accelerate.commands.launch", *option, str(script)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout == f"device: {device}\n", done.stderr


@pytest.mark.long
def test_two_processes_train_alone(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import os\n"
        "from accelerate import Accelerator\n"
        "accelerator = Accelerator()\n"
        "with open('rank' + os.environ['RANK'], 'w') as file:\n"
        "    print(accelerator.device, accelerator.num_processes, file=file)\n"
    )
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    subprocess.run([*command, str(script)], cwd=tmp_path, check=True)
    assert [(tmp_path / f"rank{rank}").read_text() for rank in range(2)] == ["mps 1\n"] * 2


@pytest.mark.parametrize(
    ("options", "dtype", "scales"),
    [({}, "float32", False), ({"bf16": True}, "bfloat16", False), ({"fp16": True}, "float16", True)],
)
def test_precision_of_the_trainer(tmp_path, capsys, options, dtype, scales):
    trainer = tiny_trainer(tmp_path, **options)
    print_precision(trainer.model.lm_head)
    trainer.train()
    assert f"weights: torch.float32 | computed in: torch.{dtype}\n" in capsys.readouterr().out
    assert (trainer.accelerator.scaler is not None) == scales
    assert trainer.optimizer.param_groups[0]["fused"]  # which a scaler needs PyTorch 2.13 for


@pytest.mark.parametrize(
    ("word", "dtype", "scales"),
    [("no", "float32", False), ("bf16", "bfloat16", False), ("fp16", "float16", True)],
)
def test_precision_of_accelerate(capsys, word, dtype, scales):
    accelerator = Accelerator(mixed_precision=word)
    model = accelerator.prepare(nn.Sequential(nn.Linear(8, 1)))
    print_precision(model[0])
    result = model(torch.randn(2, 8, device=accelerator.device))
    assert f"weights: torch.float32 | computed in: torch.{dtype}\n" in capsys.readouterr().out
    assert result.dtype == torch.float32  # converted back, so it proves nothing
    assert (accelerator.scaler is not None) == scales


@pytest.mark.parametrize("use_cpu", [False, True])
@pytest.mark.parametrize(("workers", "start"), [(0, None), (1, None), (2, "fork")])
def test_two_workers_of_the_trainer_are_forked(tmp_path, workers, start, use_cpu):
    options = {"dataloader_num_workers": workers, "use_cpu": use_cpu}
    batches = tiny_trainer(tmp_path, **options).get_train_dataloader()
    context = batches.multiprocessing_context
    assert (context and context.get_start_method()) == start


def test_workers_are_spawned_where_the_settings_ask_for_it(tmp_path):
    options = {"dataloader_num_workers": 2, "dataloader_multiprocessing_context": "spawn"}
    batches = tiny_trainer(tmp_path, **options).get_train_dataloader()
    assert batches.multiprocessing_context.get_start_method() == "spawn"


def test_pinned_memory_is_the_default_and_warns(tmp_path):
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        tiny_trainer(tmp_path, dataloader_pin_memory=True, max_steps=1).train()
    assert any("not supported on MPS" in str(warning.message) for warning in raised)


def test_accelerate_keeps_the_loader_and_pins_nothing():
    batches = Accelerator().prepare(DataLoader(torch.randn(4, 8), batch_size=2))
    assert not batches.pin_memory


def test_the_fallback_variable_is_set_too_late():
    accelerator = Accelerator()
    assert os.environ["PYTORCH_ENABLE_MPS_FALLBACK"] == "1"
    with pytest.raises(NotImplementedError, match="linalg_eig"):
        torch.linalg.eig(torch.eye(2, device=accelerator.device))


@pytest.mark.parametrize("save_steps", [3, 4])  # in the middle of an epoch, and at its end
@pytest.mark.parametrize("kept", [False, True])
def test_dropout_after_a_resume_needs_the_generator_of_mps(tmp_path, save_steps, kept):
    options = {"save_strategy": "steps", "save_steps": save_steps}
    callbacks = [KeepRandomState()] if kept else []
    trainer = tiny_trainer(tmp_path, callbacks, **options)
    trainer.train()
    saved = torch.load(tmp_path / f"checkpoint-{save_steps}/rng_state.pth", weights_only=False)
    assert saved.keys() == {"python", "numpy", "cpu"}
    resumed = tiny_trainer(tmp_path, callbacks, **options)
    resumed.train(resume_from_checkpoint=str(tmp_path / f"checkpoint-{save_steps}"))
    assert torch.equal(trained_weights(trainer), trained_weights(resumed)) == kept


@pytest.mark.parametrize("kept", [False, True])
def test_states_of_accelerate_need_it_too(tmp_path, kept):
    accelerator = Accelerator()
    accelerator.prepare(nn.Linear(2, 2))
    if kept:
        accelerator.register_for_checkpointing(RandomState())
    accelerator.save_state(str(tmp_path))
    expected = torch.rand(8, device="mps").cpu()
    accelerator.load_state(str(tmp_path))
    assert torch.equal(torch.rand(8, device="mps").cpu(), expected) == kept


def test_memory_of_the_gpu_is_reported_on_request(tmp_path):
    metrics = tiny_trainer(tmp_path, skip_memory_metrics=False).train().metrics
    assert metrics["train_mem_gpu_alloc_delta"] > 0
    assert metrics["train_mem_gpu_peaked_delta"] == "Not available"


@pytest.mark.parametrize("message", ["MPS backend out of memory (MPS allocated: 1 GB)", "another error"])
def test_only_a_lack_of_memory_makes_the_batch_smaller(tmp_path, message):
    trainer = tiny_trainer(tmp_path, auto_find_batch_size=True)
    sizes: list[int] = []

    def forward(model: nn.Module, inputs: tuple) -> None:
        sizes.append(trainer._train_batch_size)
        if len(sizes) == 1:
            raise RuntimeError(message)

    trainer.model.register_forward_pre_hook(forward)
    if "out of memory" not in message:
        with pytest.raises(RuntimeError, match=message):
            trainer.train()
        return
    trainer.train()
    assert sizes[0] > sizes[1]


@pytest.mark.parametrize("option", ["torch_compile", "activation_checkpointing"])
def test_options_that_train(tmp_path, option):
    assert tiny_trainer(tmp_path, max_steps=1, **{option: True}).train().global_step == 1


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"fsdp": True}, ValueError, "Using fsdp only works in distributed training."),
        ({"tf32": True}, ValueError, "--tf32 requires Ampere or a newer GPU arch"),
        ({"bf16": True, "fp16": True}, ValueError, "At most one of fp16 and bf16 can be True"),
    ],
)
def test_what_the_settings_refuse(tmp_path, options, error, message):
    with pytest.raises(error, match=message):
        tiny_trainer(tmp_path, **options)


def test_float64_is_refused(tmp_path):
    class Mean(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(1, 1)

        def forward(self, x, labels=None):
            return {"loss": self.layer(x.float()).mean()}

    trainer = tiny_trainer(tmp_path)
    trainer.model = trainer.model_wrapped = Mean().to("mps")
    trainer.train_dataset = [{"x": torch.zeros(1, dtype=torch.float64), "labels": torch.zeros(1)}] * 16
    with pytest.raises(TypeError, match="Cannot convert a MPS Tensor to float64 dtype"):
        trainer.train()
