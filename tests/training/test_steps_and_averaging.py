"""Trainings that end after so many updates, and weights averaged over epochs."""

from contextlib import contextmanager

import pytest
import torch

from hybonet.training import Interrupted, LoopSettings, Reporter, ScheduleSettings, Trainer
from hybonet.training.averaging import Snapshots, averaged_weights
from hybonet.training.checkpoint import read_tensors
from hybonet.training.progress import TerminalReporter
from tests.training.toy import StopAt, ToyTask

BASE = {"epochs": 6, "validate_every": 1, "checkpoint_seconds": 0}


def test_training_ends_after_so_many_steps_in_the_middle_of_an_epoch(tmp_path):
    settings = LoopSettings(**BASE, steps=13, schedule=ScheduleSettings(kind="linear"))
    trainer = Trainer(ToyTask(settings), tmp_path)
    result = trainer.fit()
    assert trainer.position.update == 13
    assert [row["epoch"] for row in result.history] == [1, 2, 3]
    assert [row["updates"] for row in result.history] == [5, 10, 13]
    assert "accuracy" in result.history[-1]
    assert not result.stopped_early
    assert result.history[-1]["lr"] == pytest.approx(0.02 / 13)  # the schedule ends where the steps do


@pytest.mark.parametrize(("steps", "accumulate"), [(13, 1), (7, 4), (8, 3)])
def test_the_batches_that_are_announced_are_those_that_are_trained(steps, accumulate, tmp_path):
    class Counting(Reporter):
        announced = batches = 0

        @contextmanager
        def running(self, total, done):
            self.announced = total
            yield

        def advance(self, epoch, loss):
            self.batches += 1

    counted = Counting()
    settings = LoopSettings(**BASE, steps=steps, accumulate=accumulate)
    Trainer(ToyTask(settings), tmp_path, reporter=counted).fit()
    assert counted.batches == counted.announced


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
@pytest.mark.parametrize("die_in", [2, 4, 7, 8])
def test_killed_before_any_checkpoint_or_after_a_few_it_repeats_itself(die_in, of, tmp_path):
    """Epochs shorter than a second leave no checkpoint of each: best models, history and kept weights are ahead of it.

    The eighth validation is of the average, after which nothing but the last checkpoint is to be written.
    """

    class DiesInValidation(ToyTask):
        calls = 0

        def validate(self, model):
            self.calls += 1
            if self.calls == die_in:
                raise Interrupted
            return super().validate(model)

    class SavesAtTheEndOfEpochThree(Trainer):
        def _finish_epoch(self):
            if self.position.epoch == 2:
                self.saved_at = -torch.inf
            super()._finish_epoch()

    settings = LoopSettings(epochs=7, validate_every=1, average=3, average_of=of, steps=33)
    outcomes = []
    for name in ("alone", "killed"):
        folder = tmp_path / name
        folder.mkdir()
        if name == "killed":
            with pytest.raises(Interrupted):
                SavesAtTheEndOfEpochThree(DiesInValidation(settings), folder).fit()
            assert (folder / "checkpoint.safetensors").exists() == (die_in > 3)
            assert (folder / "epoch-1.safetensors").exists() or die_in > 3
            with open(folder / "history.jsonl", "a") as file:
                file.write('{"epoch": 9')  # the kill may come in the middle of a line
        result = Trainer(ToyTask(settings), folder).fit(resume=True)
        names = sorted(path.name for path in folder.glob("*.safetensors"))
        history = [{key: value for key, value in row.items() if "seconds" not in key} for row in result.history]
        outcomes.append((history, names, {each: read_tensors(folder / each) for each in names}))
    (history, names, tensors), (history_again, names_again, again) = outcomes
    assert history == history_again
    assert names == names_again
    for name in names:
        assert all(torch.equal(value, again[name][key]) for key, value in tensors[name].items()), name


def test_a_better_average_does_not_give_a_run_that_is_out_of_patience_more_of_it(tmp_path):
    class LikesOnlyAverages(ToyTask):
        def validate(self, model):
            kept = [read_tensors(path)["head.bias"] for path in tmp_path.glob("epoch-*.safetensors")]
            averaged = len(kept) == 2 and not any(torch.equal(model.head.bias, each) for each in kept)
            return {"accuracy": 1.0 if averaged and self.all_single else 0.1}

        all_single = False

    class TellsWhenAveraging(Trainer):
        def _average(self, value, final):
            self.task.all_single = final
            return super()._average(value, final)

    settings = LoopSettings(epochs=50, validate_every=1, checkpoint_seconds=0, patience=3, average=2)
    result = TellsWhenAveraging(LikesOnlyAverages(settings), tmp_path).fit()
    assert result.best["accuracy"] == 1.0
    assert (result.epochs, result.best_epoch) == (4, 4)  # the first was best, then three without a better one
    LikesOnlyAverages.all_single = True  # what is stored is measured again
    assert Trainer(LikesOnlyAverages(settings), tmp_path).fit(resume=True).epochs == 4


@pytest.mark.parametrize("of", ["last", "best"])
def test_the_average_is_the_mean_of_the_kept_epochs_and_on_the_sheet(of, tmp_path):
    settings = LoopSettings(**BASE, average=3, average_of=of)
    trainer = Trainer(ToyTask(settings), tmp_path)
    result = trainer.fit()
    scores = {row["epoch"]: row["accuracy"] for row in result.history}
    kept = sorted(int(path.stem.removeprefix("epoch-")) for path in tmp_path.glob("epoch-*.safetensors"))
    assert len(kept) == 3
    if of == "last":
        assert kept == [4, 5, 6]
    else:
        assert min(scores[epoch] for epoch in kept) >= max(v for e, v in scores.items() if e not in kept)
    last = result.history[-1]
    assert "averaged_accuracy" in last
    assert last.get("averaged_epochs", kept) == kept
    before = {name: value.clone() for name, value in trainer.model.state_dict().items()}
    paths = [tmp_path / f"epoch-{epoch}.safetensors" for epoch in kept]
    space = torch.stack([read_tensors(path)["table.weight"][:, 1:] for path in paths]).mean(0)
    with averaged_weights(trainer.model, paths):
        torch.testing.assert_close(trainer.model.table.weight[:, 1:], space)
        assert trainer.model.table.manifold.check_point(trainer.model.table.points())
    assert all(torch.equal(before[name], value) for name, value in trainer.model.state_dict().items())


def test_epochs_after_the_one_that_a_killed_run_goes_on_from_are_forgotten(tmp_path):
    model = torch.nn.Linear(2, 2)
    snapshots = Snapshots(tmp_path, count=3, of="best", higher_is_better=True)
    for epoch, value in ((1, 0.1), (2, 0.2), (3, 0.9)):
        snapshots.add(model, epoch, value)
    snapshots.add(model, 2, 0.3)  # killed after epoch 3, of which the checkpoint knew nothing
    assert snapshots.epochs() == [1, 2]


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
    assert (result.history[-1]["accuracy"], result.history[-1]["averaged_accuracy"]) == (0.1, 1.0)
    assert (result.best["accuracy"], result.best["averaged_epochs"]) == (1.0, [1, 2])
    mean = torch.stack([read_tensors(tmp_path / f"epoch-{epoch}.safetensors")["head.bias"] for epoch in (1, 2)]).mean(0)
    torch.testing.assert_close(result.model.head.bias, mean)
    torch.testing.assert_close(read_tensors(tmp_path / "model.safetensors")["head.bias"], mean)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (
            {"averaged_epochs": [2, 3], "averaged_perplexity": 3.5},
            "kept: the mean of the weights after epochs 2, 3, perplexity 3.5000",
        ),
        ({"averaged_perplexity": 5.0}, "the mean of the weights is no better than the best epoch: perplexity 5.0000"),
    ],
)
def test_the_end_tells_what_averaging_gave(row, said):
    lines = []
    reporter = TerminalReporter(3, echo=lines.append)
    with reporter.running(total=3, done=0):
        reporter.epoch({"epoch": 2, "loss": 1.0, "seconds": 2.0, "perplexity": 4.5}, "perplexity", 4.5)
        reporter.epoch({"epoch": 3, "loss": 1.0, "seconds": 3.0, "perplexity": 4.0, **row}, "perplexity", 4.0)
    assert lines[2:] == [said]
    with reporter.measuring("translating test sentences", 1000) as progress:
        progress(500)
    assert lines[3:] == ["translating test sentences (1,000)"]


@pytest.mark.parametrize(("higher", "kept"), [(True, [2, 3]), (False, [1, 2])])
def test_the_best_epochs_are_those_of_the_best_value(higher, kept, tmp_path):
    snapshots = Snapshots(tmp_path, count=2, of="best", higher_is_better=higher)
    for epoch, value in ((1, 0.1), (2, 0.2), (3, 0.3)):
        snapshots.add(torch.nn.Linear(2, 2), epoch, value)
    assert snapshots.epochs() == kept
