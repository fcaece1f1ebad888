"""A training that is one of several is judged by its best figure, and may fail without harm."""

import pytest

from hybonet.training import Interrupted, LoopSettings, Reporter
from hybonet.training.history import read_history
from hybonet.training.trial import Hopeless, Outcome, run_trial
from tests.training.toy import StopAt, ToyTask


class LowerIsBetter(ToyTask):
    higher_is_better = False


class NotANumber(ToyTask):
    def validate(self, model):
        return {"accuracy": float("nan")}


class GivesUp(Reporter):
    """After the first epoch with a figure."""

    def epoch(self, row, monitor, best):
        if monitor in row:
            raise Hopeless


def tried(folder, make=ToyTask, reporter=None, epochs=6) -> Outcome:
    settings = LoopSettings(epochs=epochs, validate_every=2, checkpoint_seconds=0)
    listening = reporter or Reporter()
    return run_trial(
        folder, lambda: make(settings), name="trial 7", resume_command="again", reporter=lambda task: listening
    )


def do_not_go_together(settings):
    raise ValueError("expected other settings\nfor this and that reason")


@pytest.mark.parametrize(("make", "choose"), [(ToyTask, max), (LowerIsBetter, min)])
def test_the_best_of_the_epochs_that_were_validated_counts(make, choose, tmp_path):
    found = tried(tmp_path, make)
    figures = {row["epoch"]: row["accuracy"] for row in read_history(tmp_path) if "accuracy" in row}
    assert list(figures) == [2, 4, 6]
    assert (found.state, found.epochs) == ("finished", 6)
    assert found.figure == choose(figures.values()) == figures[found.best_epoch]
    assert found.seconds > 0


def test_settings_that_do_not_go_together_have_failed_and_say_why(tmp_path):
    assert tried(tmp_path, do_not_go_together) == Outcome("failed", reason="expected other settings")
    tried(tmp_path, epochs=4)
    later = tried(tmp_path, do_not_go_together)  # of a trial that had begun
    assert later == Outcome("failed", epochs=4, reason="expected other settings")


def test_a_figure_that_is_no_number_is_a_failure(tmp_path):
    found = tried(tmp_path, NotANumber)
    assert (found.state, found.figure, found.reason) == ("failed", None, "the validation figure is nan")


def test_one_that_is_given_up_keeps_its_figure(tmp_path):
    found = tried(tmp_path, reporter=GivesUp())
    assert (found.state, found.epochs, found.best_epoch) == ("pruned", 2, 2)
    assert found.figure is not None


def test_one_that_is_stopped_goes_on_where_it_was(tmp_path):
    with pytest.raises(Interrupted, match=r"trial 7: stopped by SIGINT at epoch 3.*again"):
        tried(tmp_path / "stopped", reporter=StopAt(12))
    assert tried(tmp_path / "stopped").figure == tried(tmp_path / "alone").figure
