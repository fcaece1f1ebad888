"""Curves that TensorBoard's own reader finds."""

import sys

import pytest

from hybonet.training import LoopSettings, Trainer
from hybonet.training.progress import TensorBoardReporter
from tests.training.toy import ToyTask


def test_every_number_of_an_epoch_is_a_curve(tmp_path):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    reporter = TensorBoardReporter(tmp_path / "curves")
    Trainer(ToyTask(LoopSettings(epochs=3, validate_every=1)), tmp_path, reporter=reporter).fit()
    events = accumulator.EventAccumulator(str(tmp_path / "curves"))
    events.Reload()
    assert {"loss", "lr", "accuracy"} <= set(events.Tags()["scalars"])
    assert [event.step for event in events.Scalars("loss")] == [1, 2, 3]


def test_what_is_no_number_is_no_curve(tmp_path):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    reporter = TensorBoardReporter(tmp_path)
    with reporter.running(1, 0):
        reporter.epoch({"epoch": 2, "loss": 1.0, "averaged_epochs": [1, 2]}, "accuracy", None)
    events = accumulator.EventAccumulator(str(tmp_path))
    events.Reload()
    assert events.Tags()["scalars"] == ["loss"]


def test_without_tensorboard_the_remedy_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)  # as if it were not there
    with pytest.raises(ValueError, match=r"pip install 'hybonet\[tensorboard\]'"):
        TensorBoardReporter(tmp_path)
