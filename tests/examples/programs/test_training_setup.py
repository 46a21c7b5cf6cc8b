"""What a training system decides before its first step."""

import contextlib
import logging
from types import SimpleNamespace

import pytest
import torch
from torch.utils import cpp_extension

from examples.programs import program
from snippets.errors import UsageError


@pytest.mark.parametrize("asked", [False, True])
def test_compiling_without_a_gpu_warns_of_none_missing(monkeypatch, tmp_path, caplog, asked):
    """PyTorch does when its module for C++ extensions is imported, in the midst of a compilation."""
    logger = logging.getLogger(cpp_extension.__name__)
    monkeypatch.setattr(logger, "level", logging.NOTSET)
    logger.manager._clear_cache()
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    monkeypatch.setattr(
        program,
        "compile_or_eager",
        lambda module, warm_up, *, cuda_graphs: (module, f"compiled, graphs: {cuda_graphs}"),
    )
    module, facts = torch.nn.Linear(1, 1), {}
    task = SimpleNamespace(options=SimpleNamespace(compile=asked, graphs=True), facts=facts)
    found = program.compiled(task, module, [])
    cpp_extension._find_cuda_home()
    assert found is module
    assert facts == ({"compile": "compiled, graphs: False"} if asked else {})
    assert ("No CUDA runtime is found" in caplog.text) is not asked


@pytest.mark.parametrize(
    ("batch_size", "accumulate", "message"),
    [
        (10, 1, None),
        (5, 2, None),
        (11, 1, "--batch-size 11: there are only 10 cats; at most --batch-size 10"),
        (6, 2, "--batch-size 6 × --accumulate 2: there are only 10 cats; at most --batch-size 5"),
    ],
)
def test_a_step_takes_no_more_samples_than_there_are(batch_size, accumulate, message):
    options = SimpleNamespace(batch_size=batch_size, accumulate=accumulate)
    refused = pytest.raises(UsageError, match=f"^{message}$") if message else contextlib.nullcontext()
    with refused:
        program.check_batch_size(options, 10, "cats")


@pytest.mark.parametrize(("max_steps", "total"), [(None, 6), (5, 5), (7, 6)])
def test_an_incomplete_step_of_an_epoch_is_left_out(max_steps, total):
    options = SimpleNamespace(batch_size=3, accumulate=2, epochs=2, max_steps=max_steps)
    assert program.plan_steps(options, 23) == (6, 3, total)
