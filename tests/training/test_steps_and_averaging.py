"""Trainings that end after so many updates, and weights averaged over epochs."""

import pytest
import torch

from hybonet.training import Interrupted, LoopSettings, ScheduleSettings, Trainer
from hybonet.training.averaging import averaged_weights
from hybonet.training.checkpoint import read_tensors
from tests.training.toy import StopAt, ToyTask

BASE = {"epochs": 6, "validate_every": 1, "checkpoint_seconds": 0}


def test_training_ends_after_so_many_steps_in_the_middle_of_an_epoch(tmp_path):
    settings = LoopSettings(**BASE, steps=13, schedule=ScheduleSettings(kind="linear"))
    trainer = Trainer(ToyTask(settings), tmp_path)
    result = trainer.fit()
    assert trainer.position.update == 13
    assert [row["epoch"] for row in result.history] == [1, 2, 3]
    assert "accuracy" in result.history[-1]
    assert not result.stopped_early
    assert result.history[-1]["lr"] == pytest.approx(0.02 / 13)  # the schedule ends where the steps do


class KilledInLastValidation(ToyTask):
    """Ends after the last step was saved and before the epoch is closed."""

    calls = 0

    def validate(self, model):
        self.calls += 1
        if self.calls == 3:
            raise Interrupted
        return super().validate(model)


@pytest.mark.parametrize("stop", [3, 12, None])
def test_stopped_anywhere_it_ends_with_the_same_weights(stop, tmp_path):
    settings = LoopSettings(**BASE, steps=13, average=2)
    weights = []
    for name in ("alone", "stopped"):
        (tmp_path / name).mkdir()
        if name == "stopped":
            kind, reporter = (ToyTask, StopAt(stop)) if stop else (KilledInLastValidation, None)
            with pytest.raises(Interrupted):
                Trainer(kind(settings), tmp_path / name, reporter=reporter).fit()
        result = Trainer(ToyTask(settings), tmp_path / name).fit(resume=True)
        weights.append(result.model.state_dict())
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])


@pytest.mark.parametrize("of", ["last", "best"])
def test_the_average_is_the_mean_of_the_kept_epochs_and_on_the_sheet(of, tmp_path):
    settings = LoopSettings(**BASE, average=3, average_of=of)
    trainer = Trainer(ToyTask(settings), tmp_path)
    result = trainer.fit()
    scores = {row["epoch"]: row["accuracy"] for row in result.history if "averaged_epochs" not in row}
    kept = sorted(int(path.stem.removeprefix("epoch-")) for path in tmp_path.glob("epoch-*.safetensors"))
    assert len(kept) == 3
    if of == "last":
        assert kept == [4, 5, 6]
    else:
        assert min(scores.get(epoch, 1.0) for epoch in kept) >= max(v for e, v in scores.items() if e not in kept)
    last = result.history[-1]
    assert "averaged_accuracy" in last or last["averaged_epochs"] == kept
    before = {name: value.clone() for name, value in trainer.model.state_dict().items()}
    paths = [tmp_path / f"epoch-{epoch}.safetensors" for epoch in kept]
    space = torch.stack([read_tensors(path)["table.weight"][:, 1:] for path in paths]).mean(0)
    with averaged_weights(trainer.model, paths):
        torch.testing.assert_close(trainer.model.table.weight[:, 1:], space)
        assert trainer.model.table.manifold.check_point(trainer.model.table.weight)
    assert all(torch.equal(before[name], value) for name, value in trainer.model.state_dict().items())


def test_a_better_average_becomes_the_model(tmp_path):
    """Accuracy of the mean is told to be highest: it must be what is kept and what the result reports."""

    class LovesAverages(ToyTask):
        def validate(self, model):
            on_disk = [read_tensors(path)["head.bias"] for path in tmp_path.glob("epoch-*.safetensors")]
            single = any(torch.equal(model.head.bias, each) for each in on_disk) or len(on_disk) < 2
            return {"accuracy": 0.1 if single or model.head.bias is None else 1.0}

    settings = LoopSettings(**{**BASE, "epochs": 2}, average=2, average_of="last")
    result = Trainer(LovesAverages(settings), tmp_path).fit()
    assert result.history[-1]["averaged_epochs"] == [1, 2]
    assert result.best["accuracy"] == 1.0
    mean = torch.stack([read_tensors(tmp_path / f"epoch-{epoch}.safetensors")["head.bias"] for epoch in (1, 2)]).mean(0)
    torch.testing.assert_close(result.model.head.bias, mean)
    torch.testing.assert_close(read_tensors(tmp_path / "model.safetensors")["head.bias"], mean)
