"""The examples of callbacks hear of a training; for tools that are not installed, something stands in."""

import importlib.util
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import hybonet

FACTS = [(f"n{i}", "next", f"n{(i + 1) % 12}") for i in range(12)] + [
    (f"n{i}", "skip", f"n{(i + 2) % 12}") for i in range(12)
]
PLACE = Path(__file__).resolve().parents[2] / "examples/trackers.py"


@pytest.fixture(scope="module")
def trackers():
    spec = importlib.util.spec_from_file_location("trackers", PLACE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def trained(reporter, **settings):
    return hybonet.train("kg", FACTS, epochs=3, dim=6, validate_every=1, reporter=reporter, **settings)


def test_tensorboard(trackers, tmp_path):
    pytest.importorskip("tensorboard")
    reporter = trackers.TensorBoard(str(tmp_path))
    trained(reporter)
    reporter.writer.close()
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(tmp_path))
    events.Reload()
    assert [event.step for event in events.Scalars("mrr")] == [1, 2, 3]


def test_optuna_prunes(trackers):
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction="maximize", pruner=optuna.pruners.ThresholdPruner(lower=2.0))
    study.optimize(lambda trial: trained(trackers.OptunaPruning(trial)).evaluate()["both"]["mrr"], n_trials=1)
    assert study.trials[0].state == optuna.trial.TrialState.PRUNED
    assert list(study.trials[0].intermediate_values) == [1]


@pytest.mark.parametrize(
    ("name", "module", "call"),
    [("MLflow", "mlflow", "log_metrics"), ("WeightsAndBiases", "wandb", "log"), ("RayTune", "ray.tune", "report")],
)
def test_others_are_told_of_every_epoch(trackers, monkeypatch, name, module, call):
    told = []
    stand_in = SimpleNamespace(**{call: lambda figures, **_: told.append(figures)})
    monkeypatch.setitem(sys.modules, module, stand_in)
    if "." in module:
        monkeypatch.setitem(sys.modules, module.partition(".")[0], SimpleNamespace(tune=stand_in))
    trained(getattr(trackers, name)())
    assert len(told) == 3
    assert all({"loss", "mrr"} <= figures.keys() for figures in told)
