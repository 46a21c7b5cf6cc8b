"""Trainings of both programs without their command line, for the tests of the loop and of what is learned."""

from types import SimpleNamespace

import pytest
from tqdm import tqdm

from examples.genomic_caduceus.lightning_loop import LightningTraining
from examples.programs.run_folder import RunFolder
from snippets.stop_signals import StopSignals

train_only = pytest.mark.parametrize("program_name", ["genomic_caduceus/train"], indirect=True)
pretrain_only = pytest.mark.parametrize("program_name", ["genomic_caduceus/pretrain"], indirect=True)


@pytest.fixture
def task_of(system, tiny, one_thread):
    """Return a function that gives a task of the program under test with other settings."""
    return lambda **settings: system.PROGRAM.prepare(system.PROGRAM.read_command_line(tiny(**settings)))


@pytest.fixture
def fit(tmp_path):
    """Return a function that trains a task in Lightning's loop and gives measures and rates of its steps.

    `training` says with which class.
    """

    def call(task, training=LightningTraining):
        seen = SimpleNamespace(measures=[], rates=[])

        class Noting(training):
            def after_step(self, measures, *others):
                seen.measures.append(measures.clone())
                seen.rates.append(self.rate)
                return super().after_step(measures, *others)

        folder = tmp_path / f"run{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        with RunFolder(folder) as run, tqdm(disable=True) as bar:
            Noting(task, run, {"system": "test"}, "").train(StopSignals(), bar)
        return seen

    return call
