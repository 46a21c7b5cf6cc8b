"""curves.png of every training program draws metrics that its runs write."""

import importlib

import pytest

from examples.systems import find, modules


@pytest.fixture(params=modules())
def name(request):
    """Return the name of a program in the registry."""
    return request.param


@pytest.fixture
def system(name):
    """Return the module of the program, for the fixture that trains."""
    return importlib.import_module(modules()[name])


def test_curves_are_of_metrics_that_the_run_writes(name, run_train, monkeypatch):
    drawn = []
    report = importlib.import_module(f"{modules()[name].rpartition('.')[0]}.report")
    monkeypatch.setattr(report, "draw_curves", lambda *arguments: drawn.append(arguments))
    program = find(name)[1][0]
    run = run_train(*program.words({"device": "cpu", **program.tiny}), "--out", "run")
    assert run.code == 0
    (metrics, image, _, panels), *others = drawn
    assert not others
    assert (metrics.resolve(), image.name) == (run.folder.resolve() / "metrics.jsonl", "curves.png")
    named = {metric for panel in panels for metric in (*panel.metrics.values(), panel.single) if metric}
    assert len(named) >= 2
    assert named <= run.metrics[-1].keys()
