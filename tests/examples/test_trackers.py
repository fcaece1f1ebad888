"""The examples of callbacks hear of a training. Tools that are not installed have a stand-in, which is as strict."""

import importlib
import importlib.util
import re
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
    sys.modules["trackers"] = module
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


def test_mlflow(trackers, tmp_path):
    mlflow = pytest.importorskip("mlflow")
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'runs.db'}")
    with mlflow.start_run() as run:
        trained(trackers.MLflow())
    history = mlflow.MlflowClient().get_metric_history(run.info.run_id, "hits_at_10")
    assert [each.step for each in history] == [1, 2, 3]


def test_weights_and_biases(trackers, tmp_path, monkeypatch):
    wandb = pytest.importorskip("wandb")
    with wandb.init(mode="offline", dir=tmp_path, settings=wandb.Settings(silent=True)) as run:
        trained(trackers.WeightsAndBiases())
        assert {"loss", "mrr", "hits@10"} <= dict(run.summary).keys()
        assert run.step == 3


@pytest.mark.slow
def test_ray_tune(trackers, tmp_path):
    tune = pytest.importorskip("ray.tune")
    pickle = importlib.import_module("ray.cloudpickle")
    pickle.register_pickle_by_value(trackers)
    pickle.register_pickle_by_value(sys.modules[__name__])
    tuner = tune.Tuner(
        lambda config: trained(trackers.RayTune(), lr=config["lr"]),
        param_space={"lr": tune.grid_search([0.01, 0.1])},
        run_config=tune.RunConfig(storage_path=str(tmp_path), verbose=0),
    )
    assert [each.metrics["training_iteration"] for each in tuner.fit()] == [3, 3]


#: What each tool takes for the name of a metric.
NAMES = {"MLflow": r"[\w\-. :/]+", "WeightsAndBiases": ".+", "RayTune": ".+"}


@pytest.mark.parametrize(
    ("name", "module", "call"),
    [("MLflow", "mlflow", "log_metrics"), ("WeightsAndBiases", "wandb", "log"), ("RayTune", "ray.tune", "report")],
)
def test_others_are_told_of_every_epoch(trackers, monkeypatch, name, module, call):
    told = []

    def take(figures, step=None):
        assert all(re.fullmatch(NAMES[name], each) for each in figures)
        told.append(figures)

    stand_in = SimpleNamespace(**{call: take})
    monkeypatch.setitem(sys.modules, module, stand_in)
    if "." in module:
        monkeypatch.setitem(sys.modules, module.partition(".")[0], SimpleNamespace(tune=stand_in))
    trained(getattr(trackers, name)())
    assert len(told) == 3
    assert all({"loss", "mrr"} <= figures.keys() for figures in told)
