"""Runs that an earlier version made, of every task: they load, measure what their records say, and answer.

The folders of ``golden_runs`` were made at commit 4b85991, whose settings have other names, from a few lines of data.
"""

from __future__ import annotations

import json
import math
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hybonet.cli import app
from hybonet.tasks.hierarchy.predictor import HierarchyModel
from hybonet.tasks.knowledge_graph.predictor import KnowledgeGraphModel
from hybonet.tasks.knowledge_graph.settings import KnowledgeGraphSettings
from hybonet.tasks.recipes import read_settings_file
from hybonet.tasks.run import Run

RUNS = Path(__file__).parent / "golden_runs"
QUESTIONS = {
    "kg": "--head e01 --relation next",
    "kg-rotate": "--head e01 --relation next",
    "kg-distilled": "--tail e01 --relation next",
    "graph": "--node n2",
    "graph-gat": "--node n2",
    "typing": "--sentence 'the old [mill] is here .'",
}


def hybonet(command: str) -> str:
    """What a command writes; it must succeed."""
    result = CliRunner().invoke(app, shlex.split(command))
    assert result.exit_code == 0, result.output
    return result.stdout


def measures(content: object) -> dict[str, float]:
    """All numbers by name, those of deeper levels by their path."""
    if not isinstance(content, dict):
        return {}
    found = {name: float(value) for name, value in content.items() if isinstance(value, int | float)}
    return found | {f"{name}.{key}": x for name, part in content.items() for key, x in measures(part).items()}


@pytest.mark.parametrize("name", [*QUESTIONS, "translation", "probe"])
def test_an_old_run_measures_what_its_record_says(name):
    stored = measures(json.loads((RUNS / name / "record.json").read_text())["test"])
    result = json.loads(hybonet(f"evaluate {RUNS / name} --json"))
    found = measures(result["layers"]["0"] if name == "probe" else result.get("test", result))
    common = stored.keys() & found.keys() - {"seconds"}
    assert len(common) > 2
    assert all(math.isclose(found[key], stored[key], rel_tol=1e-4, abs_tol=1e-6) for key in common)


@pytest.mark.parametrize("name", QUESTIONS)
def test_an_old_run_answers(name):
    assert len(hybonet(f"predict {RUNS / name} {QUESTIONS[name]}").splitlines()) > 2


def test_an_old_hierarchy_measures_what_its_record_says():
    model = HierarchyModel.load(RUNS / "hierarchy")
    assert model.points.shape == (39, 3)
    assert model.evaluate()["metrics"]["mean_rank"] == pytest.approx(model.record["metrics"]["mean_rank"])


def test_old_names_and_words_are_those_of_today():
    settings = settings_at(RUNS / "kg")
    assert (settings.negative_sampling, settings.logit_scale, settings.symmetric_logit_scale) == ("shared", 0.7, 1.5)
    assert (settings.inverse_weight, settings.inverse_power) == (0.3, 0.6)
    assert KnowledgeGraphModel.load(RUNS / "kg").scorer.scores_both_directions
    settings = settings_at(RUNS / "kg-distilled")
    assert (settings.distillation_weight, settings.distillation_answers, settings.teacher_logit_scale) == (0.4, 3, 2)
    record = Run(RUNS / "kg").record
    assert {"test_one_direction", "test_paper_code"} <= record.keys()
    assert record["settings"].items() <= settings_of("kg").items()
    record = Run(RUNS / "graph").record
    assert (record["protocol"], record["settings"]["time_gate"]) == ("paper_code", "paper_code")


def settings_at(folder: Path) -> KnowledgeGraphSettings:
    return Run(folder).settings


def settings_of(name: str) -> dict[str, object]:
    return settings_at(RUNS / name).model_dump()


def test_an_old_file_of_settings_is_read(tmp_path):
    old = json.loads((RUNS / "kg" / "config.json").read_text())["settings"]
    assert "sharpness" in old
    (tmp_path / "old.json").write_text(json.dumps(old))
    assert read_settings_file(tmp_path / "old.json", KnowledgeGraphSettings) == settings_at(RUNS / "kg")


def test_old_runs_are_reported_side_by_side():
    rows = json.loads(hybonet(f"report {RUNS} --format json"))
    assert {row["task"] for row in rows} == {"kg", "graph", "hierarchy", "translation", "typing", "probe"}
    assert all("test_paper_code.mrr" in row["measures"] for row in rows if row["task"] == "kg")
