"""Transformers' Trainer on the CPU: in which type a layer computes, and what a resumed run continues with."""

import pytest
import torch

from snippets.trainer_on_mac import print_precision
from tests.tiny_trainer import tiny_trainer, trained_weights

pytestmark = pytest.mark.program


@pytest.mark.parametrize(
    ("options", "dtype"), [({}, "float32"), ({"bf16": True}, "bfloat16"), ({"fp16": True}, "float32")]
)
def test_precision_of_a_layer_is_printed_once(tmp_path, capsys, options, dtype):
    trainer = tiny_trainer(tmp_path, use_cpu=True, **options)
    print_precision(trainer.model.lm_head)
    trainer.train()
    printed = capsys.readouterr().out
    assert printed.count("computed in") == 1
    assert f"weights: torch.float32 | computed in: torch.{dtype}\n" in printed
    assert trainer.accelerator.scaler is None  # fp16 on the CPU changes nothing


@pytest.mark.parametrize("save_steps", [3, 4])  # in the middle of an epoch, and at its end
def test_a_resumed_run_ends_with_the_same_weights(tmp_path, save_steps):
    options = {"use_cpu": True, "save_strategy": "steps", "save_steps": save_steps}
    trainer = tiny_trainer(tmp_path, **options)
    trainer.train()
    resumed = tiny_trainer(tmp_path, **options)
    resumed.train(resume_from_checkpoint=str(tmp_path / f"checkpoint-{save_steps}"))
    assert torch.equal(trained_weights(trainer), trained_weights(resumed))


def test_what_a_checkpoint_holds(tmp_path):
    tiny_trainer(tmp_path, use_cpu=True, max_steps=1, save_strategy="steps", save_steps=1).train()
    assert {path.name for path in (tmp_path / "checkpoint-1").iterdir()} == {
        "config.json",
        "generation_config.json",
        "model.safetensors",
        "optimizer.pt",
        "rng_state.pth",
        "scheduler.pt",
        "trainer_state.json",
        "training_args.bin",
    }


@pytest.mark.parametrize("word", ["no_cuda", "use_mps_device"])
def test_old_words_are_unknown(tmp_path, word):
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{word}'"):
        tiny_trainer(tmp_path, **{word: True})


def test_old_name_of_recomputation_warns(tmp_path):
    with pytest.warns(FutureWarning, match="Use `activation_checkpointing` instead"):
        trainer = tiny_trainer(tmp_path, gradient_checkpointing=True)
    assert trainer.args.activation_checkpointing


@pytest.mark.skipif(torch.backends.mps.is_available(), reason="MPS has bfloat16")
def test_bf16_needs_a_gpu_or_use_cpu(tmp_path):
    with pytest.raises(ValueError, match="Your setup doesn't support bf16/gpu"):
        tiny_trainer(tmp_path, bf16=True)


def test_resuming_needs_a_checkpoint(tmp_path):
    with pytest.raises(ValueError, match="No valid checkpoint found in output directory"):
        tiny_trainer(tmp_path, use_cpu=True).train(resume_from_checkpoint=True)


def test_saved_weights_keep_their_type(tmp_path):
    trainer = tiny_trainer(tmp_path, use_cpu=True)
    trainer.model.to(torch.bfloat16).save_pretrained(tmp_path)
    load = type(trainer.model).from_pretrained
    assert load(tmp_path).dtype == torch.bfloat16
    assert load(tmp_path, dtype=torch.float32).dtype == torch.float32
