"""The journal: kills at any place of it lose nothing but the trial that ran."""

import subprocess
import sys

import pytest

from hybonet.training.ranges import OneOf
from hybonet.tuning.study import open_study, require_optuna
from tests.tuning.planted import PlantedSettings, study_in

pytest.importorskip("optuna")


def run(study, count, figure=lambda values: values["lr"]):
    tried = []
    for _ in range(count):
        attempt = study.next()
        study.end(attempt, "finished", figure=figure(attempt.values), seconds=1.0)
        tried.append(attempt.values)
    return tried


def test_the_recipe_comes_first_and_values_have_their_types(tmp_path):
    with study_in(tmp_path) as study:
        first, *others = run(study, 12)
    assert first == {"lr": 1e-3, "colour": "red", "width": 4}
    assert {type(each["width"]) for each in others} == {int}
    assert {each["colour"] for each in others} == {"red", "green"}
    assert all(1e-4 <= each["lr"] <= 1 and 1 <= each["width"] <= 9 for each in others)


@pytest.mark.parametrize("stops", [(6,), (1, 2, 3)])
def test_few_combinations_of_listed_values_are_tried_once_each(tmp_path, stops):
    ranges = {"colour": OneOf(("red", "green")), "width": OneOf((4, 5, 6))}
    settings, tried = PlantedSettings(epochs=8), []
    for count in stops:
        with open_study(tmp_path / "journal.log", settings, ranges, higher_is_better=True, seed=0) as study:
            tried += run(study, count, lambda values: values["width"])
    with open_study(tmp_path / "journal.log", settings, ranges, higher_is_better=True, seed=0) as study:
        assert study.next() is None
    assert tried[0] == {"colour": "red", "width": 4}
    assert len({tuple(each.items()) for each in tried}) == 6


def test_a_recipe_outside_the_ranges_is_not_tried(tmp_path):
    with study_in(tmp_path, lr=5.0) as study:
        assert run(study, 1)[0]["lr"] <= 1


def test_the_same_seed_tries_the_same_and_a_stop_changes_nothing(tmp_path):
    folders = [tmp_path / name for name in ("straight", "stopped", "other")]
    for folder in folders:
        folder.mkdir()
    with study_in(folders[0]) as study:
        straight = run(study, 14)
    stopped = []
    for count in (1, 4, 6, 3):  # beyond the random trials that the sampler starts with
        with study_in(folders[1]) as study:
            stopped += run(study, count)
    with study_in(folders[2], seed=1) as study:
        other = run(study, 14)
    assert straight == stopped
    assert straight[1:] != other[1:]
    assert len({each["lr"] for each in straight}) == 14  # and none twice


@pytest.mark.parametrize("at", [0, 3, 12])
def test_a_trial_that_was_cut_off_is_tried_again(tmp_path, at):
    (tmp_path / "straight").mkdir()
    with study_in(tmp_path / "straight") as study:
        straight = run(study, at + 2)
    with study_in(tmp_path) as study:
        run(study, at)
        cut = study.next()
        cut.is_hopeless(1, 0.5)
        assert not cut.begun
    for _ in range(2):  # cut off twice
        with study_in(tmp_path) as study:
            assert len(study.results()) == at
            again = study.next()
            assert (again.number, again.values, again.begun) == (cut.number, cut.values, True)
    with study_in(tmp_path) as study:
        run(study, 2)
        results = study.results()
    assert [each.number for each in results] == list(range(1, at + 3))
    assert [each.values for each in results] == straight
    assert {each.state for each in results} == {"finished"}


def test_half_a_line_and_a_lock_that_a_kill_left_are_repaired(tmp_path):
    with study_in(tmp_path) as study:
        tried = run(study, 3)
    journal = tmp_path / "journal.log"
    whole = journal.read_bytes()
    for cut in range(len(whole) - 40, len(whole)):  # the last trial's end is not yet written whole
        journal.write_bytes(whole[:cut])
        (tmp_path / "journal.log.lock").touch()
        with study_in(tmp_path) as study:
            results = study.results()
            assert [each.values for each in results] == tried[:2]
            assert study.next().values == tried[2]


def test_a_damaged_journal_is_told(tmp_path):
    (tmp_path / "journal.log").write_text('{"op_code": 0}\nnonsense\nmore\n')
    with pytest.raises(ValueError, match=r"journal.log: expected optuna's journal, but .*; restore the file, or"):
        study_in(tmp_path).__enter__()


def test_two_processes_do_not_search_in_one_folder(tmp_path):
    code = (
        "from pathlib import Path\nfrom tests.tuning.planted import study_in\n"
        f"with study_in(Path({str(tmp_path)!r})) as study: pass"
    )
    with study_in(tmp_path) as study:
        run(study, 1)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert "is being searched by process" in done.stderr
        run(study, 1)
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_hopeless_is_what_most_were_better_than(tmp_path):
    with study_in(tmp_path) as study:
        for figure in (0.5, 0.6, 0.7, 0.8, 0.9):
            attempt = study.next()
            assert not any(attempt.is_hopeless(epoch, figure) for epoch in range(1, 9))
            study.end(attempt, "finished", figure=figure)
        attempt = study.next()
        assert not attempt.is_hopeless(1, 0.1)  # too early to tell
        assert attempt.is_hopeless(2, 0.1)
        assert not attempt.is_hopeless(3, 0.95)
        study.end(attempt, "pruned", figure=0.1)
        assert study.results()[-1].state == "pruned"


def test_without_optuna_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)  # as if it were not there
    with pytest.raises(ValueError, match=r"optuna .*not installed; run pip install 'hybonet\[tune\]'"):
        require_optuna()
