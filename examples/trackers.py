"""Training told to other tools: pass one of these as ``hybonet.train(..., reporter=...)``."""

from __future__ import annotations

from typing import Any

from hybonet.training import Reporter


def figures(row: dict[str, Any]) -> dict[str, float]:
    """The numbers of an epoch: loss, learning rate and, where it was measured, the validation metrics."""
    return {name: value for name, value in row.items() if isinstance(value, float)}


class TensorBoard(Reporter):
    """Curves for ``tensorboard --logdir FOLDER``."""

    def __init__(self, folder: str) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self.writer = SummaryWriter(folder)

    def epoch(self, row: dict[str, Any], monitor: str, best: float | None) -> None:
        for name, value in figures(row).items():
            self.writer.add_scalar(name, value, row["epoch"])


class MLflow(Reporter):
    """Metrics of MLflow's active run."""

    def epoch(self, row: dict[str, Any], monitor: str, best: float | None) -> None:
        import mlflow

        # Its names have no @: hits@1 is hits_at_1.
        mlflow.log_metrics(
            {name.replace("@", "_at_"): value for name, value in figures(row).items()}, step=row["epoch"]
        )


class WeightsAndBiases(Reporter):
    """Metrics of the run that ``wandb.init()`` began."""

    def epoch(self, row: dict[str, Any], monitor: str, best: float | None) -> None:
        import wandb

        wandb.log(figures(row), step=row["epoch"])


class OptunaPruning(Reporter):
    """Ends trainings that are worse than most; ``trial`` is what the objective function is given."""

    def __init__(self, trial: Any) -> None:
        self.trial = trial

    def epoch(self, row: dict[str, Any], monitor: str, best: float | None) -> None:
        import optuna

        if monitor in row:
            self.trial.report(row[monitor], row["epoch"])
            if self.trial.should_prune():
                raise optuna.TrialPruned


class RayTune(Reporter):
    """Results for Ray Tune's schedulers."""

    def epoch(self, row: dict[str, Any], monitor: str, best: float | None) -> None:
        from ray import tune

        if monitor in row:
            tune.report(figures(row))
