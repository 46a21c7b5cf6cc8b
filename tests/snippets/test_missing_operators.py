"""Errors and warnings about operators that MPS lacks. The texts are PyTorch's; the CPU never raises them."""

import warnings
from pathlib import Path

import pytest
import torch

from examples.programs import program
from examples.programs.resume import RunChoice
from snippets.errors import exit_with_one_line
from snippets.missing_operators import count_fallbacks, missing_operator
from snippets.stop_signals import StopSignals

ERROR = (
    "The operator 'aten::{}' is not currently implemented for the MPS device. If you want this op to be "
    "considered for addition please comment on https://github.com/pytorch/pytorch/issues/141287 and mention "
    "use-case, that resulted in missing op as well as commit hash 0123456. As a temporary fix, you can set "
    "the environment variable `PYTORCH_ENABLE_MPS_FALLBACK=1` to use the CPU as a fallback for this op. "
    "WARNING: this will be slower than running natively on MPS."
)
WARNING = (
    "The operator 'aten::{}' is not currently supported on the MPS backend and will fall back to run on the "
    "CPU. This may have performance implications. (Triggered internally at MPSFallback.mm:14.)"
)


def test_the_error_becomes_one_line_with_the_cures():
    line = str(missing_operator(NotImplementedError(ERROR.format("linalg_eig"))))
    for part in ("'linalg_eig'", torch.__version__, "--device cpu", "PYTORCH_ENABLE_MPS_FALLBACK=1"):
        assert part in line
    overload = missing_operator(NotImplementedError(ERROR.format("index_reduce.out")))
    assert "operator 'index_reduce.out' in" in str(overload)


@pytest.mark.parametrize("error", [NotImplementedError("somebody's own"), RuntimeError(ERROR.format("mode"))])
def test_other_errors_are_left_alone(error):
    assert missing_operator(error) is None


def test_training_programs_say_it(monkeypatch, capsys):
    def build(options):
        raise NotImplementedError(ERROR.format("mode"))

    choice = RunChoice(Path("runs/x"))
    monkeypatch.setattr(program, "choose", lambda program, typed: (choice, None))
    failing = program.Program("x", lambda argv: {}, None, build, None, ())
    assert exit_with_one_line(lambda argv: program.run_program(failing, argv, StopSignals())) == 1
    line = capsys.readouterr().err
    assert line.startswith("error: MPS has no operator 'mode'") and line.count("\n") == 1


def test_fallbacks_are_counted_and_other_warnings_passed_on():
    with pytest.warns(UserWarning, match="something else") as passed_on, count_fallbacks() as counts:
        for name in ("linalg_eig", "mode", "linalg_eig"):
            warnings.warn(WARNING.format(name), stacklevel=1)
        warnings.warn("something else", stacklevel=1)
        assert counts == {}  # filled at the end
    assert counts == {"linalg_eig": 2, "mode": 1}
    assert [str(warning.message) for warning in passed_on] == ["something else"]


def test_one_time_warnings_repeat_inside_the_count_only():
    """`x.T` of three dimensions warns once per process, by the same mechanism as the fallback."""
    assert not torch.is_warn_always_enabled()
    values = torch.zeros(2, 2, 2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with count_fallbacks() as counts:
            for _ in range(3):
                _ = values.T
    assert len([warning for warning in caught if "x.T" in str(warning.message)]) == 3
    assert counts == {}
    assert not torch.is_warn_always_enabled()


def test_the_setting_is_restored_after_an_error():
    with pytest.raises(KeyError), count_fallbacks() as counts:
        warnings.warn(WARNING.format("mode"), stacklevel=1)
        raise KeyError
    assert counts == {"mode": 1}
    assert not torch.is_warn_always_enabled()
