"""What a training system decides before its first step."""

import logging
from types import SimpleNamespace

import pytest
import torch
from torch.utils import cpp_extension

from snippets.framework import training_setup


@pytest.mark.parametrize("asked", [False, True])
def test_compiling_on_a_machine_without_a_gpu_warns_of_no_missing_one(monkeypatch, tmp_path, caplog, asked):
    """PyTorch does when its module for C++ extensions is imported, in the midst of a compilation."""
    logger = logging.getLogger(cpp_extension.__name__)
    monkeypatch.setattr(logger, "level", logging.NOTSET)
    logger.manager._clear_cache()
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    monkeypatch.setattr(training_setup, "compile_or_eager", lambda module, warm_up: (module, "compiled"))
    module, facts = torch.nn.Linear(1, 1), {}
    found = training_setup.compiled(SimpleNamespace(compile=asked), module, None, facts)
    cpp_extension._find_cuda_home()
    assert found is module
    assert facts == ({"compile": "compiled"} if asked else {})
    assert ("No CUDA runtime is found" in caplog.text) is not asked
