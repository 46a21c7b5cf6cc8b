"""Two checkpoints are equal or the difference is named."""

import pytest
import torch

from snippets.checkpoints import TrainingState, save_checkpoint
from snippets.compare_checkpoints import differences, main
from snippets.errors import UsageError, exit_with_one_line


def make_checkpoint(path, step=3, shift=0.0):
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    model(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    with torch.no_grad():
        model.weight[1, 2] += shift
    state = TrainingState(model, [optimizer], [], torch.device("cpu"), step, {"seconds": shift})
    save_checkpoint(path, state.capture(), {"when": shift})


def test_equal_checkpoints(tmp_path, capsys):
    for name in ("a.pt", "b.pt"):
        make_checkpoint(tmp_path / name)
    assert main([str(tmp_path / "a.pt"), str(tmp_path / "b.pt")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines] == [
        [part, "equal"] for part in ("model", "optimizers", "schedulers", "scaler", "random_states", "step")
    ]


def test_a_difference_is_measured_and_named(tmp_path, capsys):
    make_checkpoint(tmp_path / "a.pt")
    make_checkpoint(tmp_path / "b.pt", step=5, shift=0.25)
    assert main([str(tmp_path / "a.pt"), str(tmp_path / "b.pt")]) == 1
    out = capsys.readouterr().out
    assert "model          1 differ, most model.weight: 0.25\n" in out
    assert "optimizers     equal\n" in out  # the momentum is that of the same step
    assert "step           1 differ, most step: 2\n" in out


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, [(".b", float("inf"))]),
        ([1, 2], [1], [("", float("inf"))]),
        ([1.5, "x"], [1.0, "y"], [("[0]", 0.5), ("[1]", float("inf"))]),
        (torch.ones(2), torch.ones(3), [("", float("inf"))]),
        (torch.tensor([1, 250], dtype=torch.uint8), torch.tensor([3, 0], dtype=torch.uint8), [("", 250.0)]),
        (1, 1.0, [("", float("inf"))]),
    ],
)
def test_every_kind_of_difference_is_found(first, second, found):
    assert list(differences(first, second)) == found
    assert list(differences(first, first)) == []


def test_two_names_are_needed(tmp_path, capsys):
    with pytest.raises(UsageError, match="expected two checkpoints, got 1 names"):
        main(["a.pt"])
    assert exit_with_one_line(main, [str(tmp_path / "a.pt"), str(tmp_path / "b.pt")]) == 2
    assert "there is no checkpoint" in capsys.readouterr().err
