"""curves.png of every training program draws metrics that its runs write."""

import importlib

from examples.systems import modules


def test_curves_are_of_metrics_that_the_run_writes(program_name, run_train, tiny, monkeypatch):
    drawn = []
    report = importlib.import_module(f"{modules()[program_name].rpartition('.')[0]}.report")
    monkeypatch.setattr(report, "draw_curves", lambda *arguments: drawn.append(arguments))
    run = run_train(*tiny(), "--out", "run")
    assert run.code == 0
    (metrics, image, _, panels), *others = drawn
    assert not others
    assert (metrics.resolve(), image.name) == (run.folder.resolve() / "metrics.jsonl", "curves.png")
    named = {metric for panel in panels for metric in (*panel.metrics.values(), panel.single) if metric}
    assert len(named) >= 2
    assert named <= run.metrics[-1].keys()
