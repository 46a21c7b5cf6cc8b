"""The tests of Lightning, Trainer and timm that the page shows pass on the CPU as well."""

from unittest.mock import Mock

import pytest

from snippets import lightning_device_test, timm_device_test, trainer_device_test

pytestmark = [pytest.mark.program, pytest.mark.slow]


def test_lightning_passes_on_the_cpu(tmp_path):
    lightning_device_test.test_lightning_trains(tmp_path)


def test_lightning_that_stops_early_fails(tmp_path, monkeypatch):
    monkeypatch.setattr(lightning_device_test.pl.Trainer, "fit", lambda *_: None)
    with pytest.raises(AssertionError):
        lightning_device_test.test_lightning_trains(tmp_path)


def test_trainer_passes_on_the_cpu(tmp_path):
    trainer_device_test.test_trainer_trains_and_the_model_generates(tmp_path)


def test_timm_passes_on_the_cpu():
    timm_device_test.test_timm_trains()


def test_timm_without_steps_fails(monkeypatch):
    monkeypatch.setattr(timm_device_test, "create_optimizer_v2", Mock())
    with pytest.raises(AssertionError):
        timm_device_test.test_timm_trains()
