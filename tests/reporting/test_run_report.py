"""Runs side by side: grouped by everything but the seed, with the spread that statistics gives."""

import json
import statistics

import pytest
from typer.testing import CliRunner

from hybonet.cli import app
from hybonet.reporting.run_report import experiments, load_records
from hybonet.tasks.base import headline_of, specs

TASKS = {name: spec.headline for name, spec in specs().items()}


def probe_record(seed, **changes):
    """Of a probe, the task whose runs depend on most."""
    return {
        "task": "probe",
        "data": {"source": "toy"},
        "encoder": {"name": "mt", "path": "runs/mt", "states_sha256": "same"},
        "settings": {"probe": "lorentz", "control": "none", "seed": seed},
        "seed": seed,
        "best_layer": 1,
        "test": {"uuas": 0.5, "dspr": 0.6, "root": 0.7, "nspr": 0.8},
        "seconds": 60,
        **changes,
    }


def record(seed, mrr, **settings):
    metrics = {"mrr": mrr, "hits@1": mrr - 0.1, "hits@3": mrr, "hits@10": mrr + 0.1}
    return {
        "task": "kg",
        "recipe": "default",
        "data": {"source": "umls"},
        "settings": {"dim": 32, "seed": seed, **settings},
        "seed": seed,
        "valid": {"mrr": mrr},
        "test": {"both": metrics},
        "test_paper_code": metrics,
        "seconds": 60.0,
        "commit": "abc",
    }


@pytest.fixture
def folder(tmp_path):
    for seed, mrr in enumerate((0.8, 0.82, 0.87)):
        (tmp_path / f"{seed}.json").write_text(json.dumps(record(seed, mrr)))
    (tmp_path / "z.json").write_text(json.dumps(record(0, 0.5, lr=0.1)))
    return tmp_path


def mean_and_deviation(experiment, name):
    return experiment.as_json()["measures"][name].values()


def test_seeds_are_one_row_and_other_settings_another(folder):
    first, second = experiments(load_records([folder], TASKS), headline_of)
    assert first.seeds == (0, 1, 2)
    mean, deviation = mean_and_deviation(first, "test.both.mrr")
    assert mean == pytest.approx(statistics.mean((0.8, 0.82, 0.87)))
    assert deviation == pytest.approx(statistics.stdev((0.8, 0.82, 0.87)))
    assert second.seeds == (0,)
    assert list(mean_and_deviation(second, "test.both.mrr")) == [0.5, None]


def test_a_record_given_twice_counts_once(folder):
    assert len(load_records([folder, folder / "1.json"], TASKS)) == 4


def test_a_copy_of_a_run_is_no_further_seed():
    (found,) = experiments([record(0, 0.8), {**record(0, 0.8), "seconds": 70.0}, record(1, 0.9)], headline_of)
    assert found.seeds == (0, 1)
    mean, _ = mean_and_deviation(found, "test.both.mrr")
    assert mean == pytest.approx(0.85)


@pytest.mark.parametrize(
    ("change", "rows"),
    [
        ({"encoder": {"name": "mt", "path": "runs/mt", "states_sha256": "other"}}, 2),
        ({"encoder": {"name": "mt", "path": "runs/other", "states_sha256": "same"}}, 2),
        ({"data": {"source": "toy", "sha256": {"train": "changed"}}}, 2),
        ({"best_layer": 2}, 1),
    ],
)
def test_what_makes_runs_different_experiments(change, rows):
    assert len(experiments([probe_record(0), probe_record(1, **change)], headline_of)) == rows


def test_weights_drawn_by_the_seed_are_no_other_encoder():
    settings = {"probe": "lorentz", "control": "random-weights"}
    records = [
        probe_record(seed, settings={**settings, "seed": seed}, encoder={"name": "mt", "states_sha256": str(seed)})
        for seed in range(3)
    ]
    (found,) = experiments(records, headline_of)
    assert found.seeds == (0, 1, 2)


def test_learning_from_a_teacher_is_another_experiment():
    taught = {**record(1, 0.8), "teachers": [{"run": "teacher", "sha256": "abc"}]}
    assert len(experiments([record(0, 0.8), taught], headline_of)) == 2


def test_layers_that_differ_by_seed_are_all_named():
    (found,) = experiments([probe_record(0), probe_record(1, best_layer=3)], headline_of)
    assert found.names["layer"] == "1, 3"


def test_the_command_writes_every_form(folder):
    for form, expected in (
        ("table", ".830"),
        ("markdown", "| 0 | umls | default | – | 32 | – | 3 | .830 ± .036 |"),
        ("json", '"dim": 32'),
    ):
        done = CliRunner().invoke(app, ["report", str(folder), "--format", form])
        assert done.exit_code == 0, done.output
        assert expected in done.output


def test_runs_without_test_data_show_what_validation_said(folder):
    untested = {key: value for key, value in record(7, 0.625).items() if not key.startswith("test")}
    (folder / "untested.json").write_text(json.dumps(untested | {"recipe": "other"}))
    text = CliRunner().invoke(app, ["report", str(folder), "--format", "markdown"]).output
    assert "| valid MRR | min |" in text
    assert "| 1 | – | – | – | – | – | – | .625 | 1.0 |" in text


def test_names_give_way_to_numbers_and_that_is_said(folder):
    wide = record(0, 0.4) | {
        "recipe": "a-recipe-with-quite-a-long-name",
        "data": {"source": "a-graph"},
    }
    (folder / "wide.json").write_text(json.dumps(wide))
    text = CliRunner(env={"COLUMNS": "80"}).invoke(app, ["report", str(folder)]).output
    assert "No room for: recipe; --format markdown has all columns." in text
    assert max(map(len, text.splitlines())) <= 80
    assert ".400" in text


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "expected a run record in JSON"),
        ("[]", "expected the record of a finished run (kg, graph, translation, typing, hierarchy, probe), got other"),
        ('{"task": "other"}', "got task 'other'"),
        (
            '{"task": "kg", "data": {"source": "x"}, "settings": {}, "seed": 0}',
            "expected seconds in the record of a kg",
        ),
        (
            '{"task": "kg", "data": {"source": "x"}, "settings": {}, "seed": 0, "seconds": 1, "test": {"both": 3}}',
            "expected test.both.mrr or valid.mrr",
        ),
    ],
)
def test_other_files_are_refused(tmp_path, content, said):
    (tmp_path / "record.json").write_text(content)
    done = CliRunner().invoke(app, ["report", str(tmp_path)])
    assert done.exit_code == 2
    assert said in done.output


def test_a_stopped_run_has_no_record(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    done = CliRunner().invoke(app, ["report", str(tmp_path)])
    assert done.exit_code == 2
    assert "a stopped run has no record yet" in done.output
