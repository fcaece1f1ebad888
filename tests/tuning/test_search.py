"""The search: finds what is planted, spares hopeless trials, survives failures, stops and kills, knows no test data."""

import csv
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace

import pytest
import torch

import hybonet.tasks.knowledge_graph.evaluation
from hybonet.data.triples.triple_data import TripleData
from hybonet.recipes import recipe
from hybonet.tasks.knowledge_graph.task import KnowledgeGraphTask
from hybonet.training import Interrupted, override
from hybonet.training.ranges import Between, OneOf
from hybonet.tuning.progress import SearchReporter, TerminalSearchReporter, best_of
from hybonet.tuning.search import run_search
from hybonet.tuning.search_folder import write_results
from hybonet.tuning.study import open_study
from tests.training.toy import StopAt
from tests.tuning.planted import BEST_LR, QUICK, RANGES, PlantedSettings, PlantedTask, planted_figure

pytest.importorskip("optuna")


def search(folder, settings=QUICK, ranges=RANGES, **options):
    return run_search(folder, PlantedTask, settings, ranges, **{"trials": 8, **options})


def without_time(results):
    return [replace(each, seconds=0.0, processor_seconds=0.0) for each in results]


def test_it_comes_near_the_planted_value_and_tells_of_every_trial(tmp_path):
    results = search(tmp_path, trials=25)
    best = best_of(results, higher_is_better=True)
    assert results[0].figure == planted_figure(QUICK) < best.figure
    assert BEST_LR / 2 < best.values["lr"] < 2 * BEST_LR
    assert [each.number for each in results] == list(range(1, 26))
    with open(tmp_path / "trials.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["lr"]) for row in rows] == [each.values["lr"] for each in results]
    assert [float(row["accuracy"]) for row in rows] == [each.figure for each in results]
    assert {row["state"] for row in rows} == {"finished", "pruned"}
    assert PlantedSettings(**json.loads((tmp_path / "best.json").read_text())) == QUICK.model_copy(update=best.values)


def test_hopeless_trials_end_early_and_their_weights_are_not_kept(tmp_path):
    results = search(tmp_path, QUICK.model_copy(update={"average": 2}), trials=12)
    pruned = [each for each in results if each.state == "pruned"]
    assert pruned
    assert all(0 < each.epochs < 4 for each in pruned)
    assert all(each.epochs == 4 for each in results if each.state == "finished")
    assert {path.name for path in tmp_path.glob("trials/*/*")} == {"history.jsonl"}


def test_after_the_last_epoch_no_trial_is_pruned(tmp_path):
    results = search(tmp_path, QUICK.model_copy(update={"validate_every": 4}), trials=12)
    assert {each.state for each in results} == {"finished"}


def test_a_trial_that_diverges_or_cannot_be_made_fails_and_the_search_goes_on(tmp_path):
    ranges = {"colour": OneOf(("red", "black")), "width": Between(1, 9)}
    results = search(tmp_path, ranges=ranges, trials=12)
    black = [each for each in results if each.values["colour"] == "black"]
    narrow, wide = ([each for each in black if (each.values["width"] > 5) == is_wide] for is_wide in (False, True))
    assert narrow
    assert wide
    assert {each.state for each in black} == {"failed"}
    assert all("the loss became nan at epoch 1, batch 1" in each.reason for each in narrow)
    assert {each.reason for each in wide} == {"expected a narrow model with black"}
    assert {each.state for each in results if each.values["colour"] == "red"} <= {"finished", "pruned"}
    assert len(results) == 12


class StoppingReporter(SearchReporter):
    """Stops the search by a signal: in a trial after some batches, or after it."""

    def __init__(self, trial, batches):
        self.trial, self.batches = trial, batches

    def training(self, number, settings):
        return StopAt(self.batches if number == self.trial else -1, signal.SIGTERM)

    def ended(self, results):
        if self.batches == 0 and len(results) == self.trial:
            os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize(("trial", "batches"), [(1, 1), (3, 7), (7, 4), (4, 0)])
def test_stopped_and_resumed_is_as_never_stopped(tmp_path, trial, batches):
    for name in ("straight", "stopped"):
        (tmp_path / name).mkdir()
    straight = search(tmp_path / "straight")
    message = f"^trial {trial}: stopped by SIGTERM.*go on with AGAIN" if batches else "^stopped by SIGINT between"
    with pytest.raises(Interrupted, match=message):
        search(tmp_path / "stopped", reporter=StoppingReporter(trial, batches), resume_command="AGAIN")
    done = (tmp_path / "stopped/trials.csv").read_text().splitlines()[1:] if trial > 1 else []
    assert len(done) == (trial - 1 if batches else trial)
    again = search(tmp_path / "stopped")
    assert without_time(again) == without_time(straight)
    same = [(tmp_path / name / "best.json").read_bytes() for name in ("straight", "stopped")]
    assert same[0] == same[1]


def test_a_trial_goes_on_where_it_was_stopped(tmp_path):
    with pytest.raises(Interrupted):
        search(tmp_path, reporter=StoppingReporter(2, 12))  # of 20 batches: it stops at the next one
    batches = []

    class Counting(SearchReporter):
        def training(self, number, settings):
            counted = StopAt(-1)
            batches.append(counted)
            return counted

    search(tmp_path, trials=2, reporter=Counting())
    assert [-1 - counted.left for counted in batches] == [7]
    with open_study(tmp_path / "journal.log", QUICK, RANGES, higher_is_better=True, seed=0) as study:
        judged = study.study.trials[-1].intermediate_values
    assert sorted(judged) == [1, 2, 3, 4]  # by what it did before the stop, too


def test_killed_at_any_moment_and_resumed_is_as_never_killed(tmp_path):
    """SIGKILL gives no chance to save or to say anything."""
    (tmp_path / "straight").mkdir()
    straight = search(tmp_path / "straight", trials=5)
    script = tmp_path / "search.py"
    script.write_text(
        textwrap.dedent(
            """
            import sys
            from functools import partial
            from pathlib import Path
            from hybonet.tuning.search import run_search
            from tests.tuning.planted import QUICK, RANGES, PlantedTask
            run_search(Path(sys.argv[1]), partial(PlantedTask, pause=0.01), QUICK, RANGES, trials=5)
            """
        )
    )
    folder = tmp_path / "killed"
    folder.mkdir()
    kills = 0
    for trial, moment in ((1, 0.06), (4, 0.2), (None, 0.0)):
        paths = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}  # where this process found the tests
        process = subprocess.Popen([sys.executable, str(script), str(folder)], env=os.environ | paths)
        if trial is not None:
            while not (folder / f"trials/{trial:04}").exists() and process.poll() is None:
                time.sleep(0.005)
            time.sleep(moment)
            process.kill()
            kills += process.wait() == -signal.SIGKILL
        else:
            assert process.wait() == 0
    assert kills == 2
    assert without_time(search(folder, trials=5)) == without_time(straight)
    assert len(list(folder.glob("trials/*"))) == 5
    assert not list(folder.rglob("*.safetensors"))


def test_files_that_a_kill_prevented_are_written_by_the_next_call(tmp_path):
    results = search(tmp_path, trials=2)
    for name in ("trials.csv", "best.json"):
        (tmp_path / name).unlink()
    assert search(tmp_path, trials=2) == results
    assert (tmp_path / "best.json").exists()
    assert len((tmp_path / "trials.csv").read_text().splitlines()) == 3


def test_more_trials_go_on_and_the_time_limit_lets_one_trial_through(tmp_path):
    first = search(tmp_path, trials=3)
    assert len(search(tmp_path, trials=2)) == 3
    longer = search(tmp_path, trials=30, minutes=0)
    assert len(longer) == 4
    assert longer[:3] == first


def test_a_search_of_listed_values_ends_when_all_have_been_tried(tmp_path, capsys):
    reporter = TerminalSearchReporter(8, "accuracy", higher_is_better=True)
    results = search(tmp_path, ranges={"width": OneOf((4, 5, 6))}, reporter=reporter)
    assert results[0].values["width"] == 4
    assert sorted(each.values["width"] for each in results) == [4, 5, 6]
    assert "All 3 combinations have been tried" in capsys.readouterr().out


def test_a_figure_that_is_lower_the_better(tmp_path):
    class Distance(PlantedTask):
        monitor, higher_is_better = "distance", False

        def validate(self, model):
            return {"distance": 1.0 - planted_figure(self.settings)}

    results = run_search(tmp_path, Distance, QUICK, RANGES, trials=12)
    best = best_of(results, higher_is_better=False)
    assert best.figure == min(each.figure for each in results)
    assert json.loads((tmp_path / "best.json").read_text())["lr"] == best.values["lr"]
    assert all(each.figure > best.figure for each in results if each.state == "pruned")


def test_no_search_by_several_processes(tmp_path, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ValueError, match="expected one process for a search, got 2"):
        search(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_no_result_is_no_file(tmp_path):
    write_results(tmp_path, [], QUICK, "accuracy", higher_is_better=True)
    assert list(tmp_path.iterdir()) == []


# On a tiny graph ---------------------------------------------------------------------------------------------------


def groups_graph():
    """Four groups of six, said twice: what one relation holds back, the other one tells."""
    facts = [(f"n{i}", relation, f"group {i % 4}") for relation in ("is in", "belongs to") for i in range(24)]
    return TripleData.from_labels(facts[:40], facts[40:44], facts[44:])


GRAPH_RANGES = {"lr": Between(1e-6, 0.1, log=True), "batch_size": OneOf((10, 30))}
GRAPH_SETTINGS = override(
    recipe("default").settings, ["epochs=10", "validate_every=5", "dim=8", "lr=1e-6", "batch_size=30"]
)


def search_graph(folder, graph, **options):
    folder.mkdir(exist_ok=True)
    graph = graph.without_test()
    return run_search(
        folder, lambda settings: KnowledgeGraphTask(settings, graph), GRAPH_SETTINGS, GRAPH_RANGES, **options
    )


def test_a_step_that_learns_is_found(tmp_path):
    results = search_graph(tmp_path, groups_graph(), trials=10)
    best = best_of(results, higher_is_better=True)
    assert results[0].values["lr"] == 1e-6
    assert best.figure > 1.5 * results[0].figure
    assert best.values["lr"] > 1e-3


def test_test_triples_have_no_part_in_it(tmp_path, monkeypatch):
    """Two graphs that differ in nothing but their test triples give the same trials, and no test triple is ranked."""
    graph = groups_graph()
    # Answers that a filtered ranking of the validation triples would leave out, if it knew them.
    head, relation, tail = graph.valid.unbind(1)
    telling = replace(graph, test=torch.stack((head, relation, (tail + 1) % graph.num_entities), dim=1))
    split_names = []
    original = hybonet.tasks.knowledge_graph.evaluation.rank_split

    def watched(model, data, split, **options):
        split_names.append(split)
        assert not len(data.test)
        return original(model, data, split, **options)

    monkeypatch.setattr("hybonet.tasks.knowledge_graph.task.rank_split", watched)
    first = search_graph(tmp_path / "first", graph, trials=4)
    second = search_graph(tmp_path / "second", telling, trials=4)
    assert without_time(first) == without_time(second)
    assert set(split_names) == {"valid"}
