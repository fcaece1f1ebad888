"""Saved models: complete, readable by everybody, never over something else."""

import inspect
import json

import pytest
import torch
from typer.testing import CliRunner

import hybonet
from hybonet import KnowledgeGraphModel, Lorentz
from hybonet.cli import app
from hybonet.tasks import predictor
from hybonet.tasks.knowledge_graph.models.triple_scorer import TripleScorer
from hybonet.tasks.knowledge_graph.task import KnowledgeGraphSettings
from hybonet.tasks.run import start
from hybonet.tasks.run_folder import read_json
from tests.toy_graph import toy_graph

FILES = {"config.json", "model.safetensors", "graph.safetensors", "entities.tsv", "relations.tsv", "README.md"}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "toy"
    start(
        folder, "kg", KnowledgeGraphSettings(dim=8, epochs=2, learn_curvature=True), toy_graph(), recipe="default"
    ).train()
    return folder


def answers(model):
    return model.tails("n3", "next") + model.heads("double", "n4") + model.relations("n1", "n2")


def test_a_run_saved_and_read_again_answers_the_same(run, tmp_path):
    model = KnowledgeGraphModel.from_pretrained(run)
    model.save_pretrained(tmp_path / "saved")
    assert {path.name for path in (tmp_path / "saved").iterdir()} == FILES | {"record.json"}
    again = KnowledgeGraphModel.from_pretrained(str(tmp_path / "saved"))
    assert answers(again) == answers(model) == answers(KnowledgeGraphModel.load(run))
    assert again.scorer.manifold.curvature == model.scorer.manifold.curvature != -1.0
    assert again.config["settings"]["learn_curvature"] is True
    assert again.config["recipe"] == "default"
    assert again.record == model.record
    again.save_pretrained(tmp_path / "twice")
    for name in FILES - {"README.md"}:
        assert (tmp_path / "twice" / name).read_bytes() == (tmp_path / "saved" / name).read_bytes(), name


def test_the_card_has_the_metrics_of_the_record(run, tmp_path):
    KnowledgeGraphModel.load(run).save_pretrained(tmp_path / "saved")
    card = (tmp_path / "saved" / "README.md").read_text()
    mrr = json.loads((run / "record.json").read_text())["test"]["both"]["mrr"]
    assert card.startswith("---\nlibrary_name: hybonet\n")
    assert f"| MRR | {mrr:.4g} |" in card
    assert 'hybonet.load("saved")' in card


def test_a_model_without_a_run_is_saved_too(tmp_path):
    graph = toy_graph()
    scorer = TripleScorer(20, 2, 6, max_norm=None, scale=1.5, margin=3.0, manifold=Lorentz(-0.5), dtype=torch.float64)
    KnowledgeGraphModel(scorer, graph).save_pretrained(tmp_path / "saved")
    again = KnowledgeGraphModel.from_pretrained(tmp_path / "saved")
    assert again.scorer.config() == scorer.config()
    assert answers(again) == answers(KnowledgeGraphModel(scorer, graph))
    assert again.record is None
    assert "## Figures" not in (tmp_path / "saved" / "README.md").read_text()


def test_files_are_for_everybody(run, tmp_path):
    KnowledgeGraphModel.load(run).save_pretrained(tmp_path / "saved")
    plain = tmp_path / "plain"
    plain.write_text("")
    for path in [*(tmp_path / "saved").iterdir(), *run.iterdir()]:
        assert path.stat().st_mode == plain.stat().st_mode, path


def test_nothing_is_overwritten_and_nothing_is_left_half_done(run, tmp_path, monkeypatch):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("precious")
    model = KnowledgeGraphModel.load(run)
    with pytest.raises(ValueError, match="holds files"):
        model.save_pretrained(tmp_path / "mine")
    with pytest.raises(ValueError, match="got the file"):
        model.save_pretrained(tmp_path / "mine" / "notes.txt")

    def fail(*_, **__):
        raise OSError("disk full")

    monkeypatch.setattr(predictor, "save_model", fail)
    with pytest.raises(OSError, match="disk full"):
        model.save_pretrained(tmp_path / "new")
    assert [path.name for path in tmp_path.rglob("*")] == ["mine", "notes.txt"]


def test_the_command_line_takes_a_saved_model_but_does_not_train_it(run, tmp_path):
    KnowledgeGraphModel.load(run).save_pretrained(tmp_path / "saved")
    done = CliRunner().invoke(app, ["predict", str(tmp_path / "saved"), "--head", "n1", "--relation", "next"])
    assert done.exit_code == 0, done.output
    assert CliRunner().invoke(app, ["evaluate", str(tmp_path / "saved")]).exit_code == 0
    resumed = CliRunner().invoke(app, ["train", "kg", "--out", str(tmp_path / "saved"), "--resume"])
    assert resumed.exit_code == 2
    assert "saved for use" in resumed.output


def test_a_damaged_configuration_is_a_clean_error(run, tmp_path):
    KnowledgeGraphModel.load(run).save_pretrained(tmp_path / "saved")
    config = read_json(tmp_path / "saved", "config.json")
    for damage in ({"dim": 8}, {**config["model"], "colour": "red"}):
        (tmp_path / "saved" / "config.json").write_text(json.dumps({**config, "model": damage}))
        with pytest.raises(ValueError, match="expected the settings of a TripleScorer"):
            KnowledgeGraphModel.from_pretrained(tmp_path / "saved")


@pytest.mark.parametrize("name", [name for name in hybonet.__all__ if name.endswith("Model")])
def test_models_of_all_tasks_are_read_and_saved_by_the_same_names(name):
    kind = getattr(hybonet, name)
    for method in ("load", "from_pretrained", "save_pretrained"):
        assert list(inspect.signature(getattr(kind, method)).parameters)[-1:] == ["folder"]
