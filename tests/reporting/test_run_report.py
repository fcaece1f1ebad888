"""Runs side by side: grouped by everything but the seed, with the spread that statistics gives."""

import json
import statistics

import pytest
from typer.testing import CliRunner

from hybonet.cli import app
from hybonet.reporting.run_report import experiments, load_records


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
        "test_released_protocol": metrics,
        "seconds": 60.0,
        "commit": "abc",
    }


@pytest.fixture
def folder(tmp_path):
    for seed, mrr in enumerate((0.8, 0.82, 0.87)):
        (tmp_path / f"{seed}.json").write_text(json.dumps(record(seed, mrr)))
    (tmp_path / "z.json").write_text(json.dumps(record(0, 0.5, lr=0.1)))
    return tmp_path


def test_seeds_are_one_row_and_other_settings_another(folder):
    first, second = experiments(load_records([folder]))
    assert first.seeds == (0, 1, 2)
    assert first.test["mrr"].mean == pytest.approx(statistics.mean((0.8, 0.82, 0.87)))
    assert first.test["mrr"].deviation == pytest.approx(statistics.stdev((0.8, 0.82, 0.87)))
    assert second.seeds == (0,)
    assert second.test["mrr"].deviation is None


def test_the_command_writes_every_form(folder):
    for form, expected in (
        ("table", ".830"),
        ("markdown", "| 0 | umls | default | 32 | 3 | .830 ± .036 |"),
        ("json", "["),
    ):
        done = CliRunner().invoke(app, ["report", str(folder), "--format", form])
        assert done.exit_code == 0, done.output
        assert expected in done.output


@pytest.mark.parametrize(
    ("content", "said"), [("{", "expected a run record in JSON"), ('{"task": "other"}', "knowledge-graph run")]
)
def test_other_files_are_refused(tmp_path, content, said):
    (tmp_path / "record.json").write_text(content)
    done = CliRunner().invoke(app, ["report", str(tmp_path)])
    assert done.exit_code == 2
    assert said in done.output
