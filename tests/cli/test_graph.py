"""Graph learning as a newcomer meets it, from training to export."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from hybonet.cli import app
from hybonet.recipes import recipe

QUICK = ["--set", "epochs=4", "--set", "validate_every=2", "--threads", "1"]


def hybonet(*words, code=0):
    result = CliRunner(env={"COLUMNS": "100"}).invoke(app, [str(word) for word in words], prog_name="hybonet")
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A network of one's own, and a run of each task on it."""
    folder = tmp_path_factory.mktemp("graph")
    hybonet("data", "disease-tree", "--nodes", "120", "--out", folder / "tree")
    tree = folder / "tree"
    given = ["--data", tree / "edges.csv", "--features", tree / "features.csv", "--labels", tree / "labels.csv"]
    shown = hybonet("train", "graph", *given, "--out", folder / "links", *QUICK)
    assert "ROC AUC" in shown
    assert "Ask it: hybonet predict" in shown
    shown = hybonet("train", "graph", "--task", "nc", *given, "--out", folder / "classes", *QUICK)
    assert "macro F1" in shown
    return folder


def test_a_task_chooses_its_recipe(files):
    config = json.loads((files / "classes/config.json").read_text())
    assert config["recipe"] == "auto"
    assert config["auto"]["plain"] == "graph-nc"
    assert config["settings"]["task"] == "nc"
    assert config["settings"]["lr"] == recipe("graph-nc").settings.lr


def test_evaluate_gives_the_records_figures(files):
    measured = json.loads(hybonet("evaluate", files / "links", "--json"))
    record = json.loads((files / "links/record.json").read_text())
    assert measured["test"] == record["test"]
    assert "valid" in hybonet("evaluate", files / "classes")


def test_predict_links(files):
    assert "Links that the graph lacks" in hybonet("predict", files / "links", "--top", "3")
    rows = json.loads(hybonet("predict", files / "links", "--node", "5", "--new", "--top", "4", "--format", "json"))
    assert [row["rank"] for row in rows] == [1, 2, 3, 4]
    assert all(row["node"] == "5" and not row["known"] and 0 <= row["probability"] <= 1 for row in rows)
    assert "did you mean" in hybonet("predict", files / "links", "--node", "5x", code=2)


def test_predict_classes(files, tmp_path):
    assert "healthy" in hybonet("predict", files / "classes", "--node", "5")
    hybonet("predict", files / "classes", "--output", tmp_path / "classes.csv")
    with open(tmp_path / "classes.csv") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 120
    assert set(rows[0]) == {"node", "predicted", "probability", "truth", "p(healthy)", "p(infected)"}


def test_plot_and_export(files, tmp_path):
    assert "disk.png" in hybonet("plot", files / "classes", "--output", tmp_path / "pictures")
    assert (tmp_path / "pictures/disk.png").stat().st_size > 5000
    hybonet("export", files / "links", "--to", "vectors", "--chart", "poincare", "--output", tmp_path / "v.npz")
    stored = np.load(tmp_path / "v.npz")
    assert stored["vectors"].shape == (120, 15)
    assert bool((np.linalg.norm(stored["vectors"], axis=1) < 1).all())
    hybonet("export", files / "links", "--to", "pretrained", "--output", tmp_path / "model")
    assert "hybonet.load" in (tmp_path / "model/README.md").read_text()
    assert "Links of 5" in hybonet("predict", tmp_path / "model", "--node", "5")
    assert "saved for use" in hybonet("train", "graph", "--out", tmp_path / "model", "--resume", code=2)


def test_a_finished_run_takes_more_epochs(files):
    hybonet("train", "graph", "--out", files / "links", "--resume", "--set", "epochs=6")
    assert json.loads((files / "links/record.json").read_text())["epochs"] == 6


def test_a_euclidean_model_has_no_chart(tmp_path):
    hybonet("train", "graph", "--out", tmp_path / "gcn", "--set", "model=GCN", *QUICK)
    assert "curves.png" in hybonet("plot", tmp_path / "gcn")
    assert "Euclidean" in hybonet("export", tmp_path / "gcn", "--to", "vectors", "--output", tmp_path / "v.tsv")
    assert "leave it out" in hybonet(
        "export", tmp_path / "gcn", "--to", "vectors", "--chart", "klein", "--output", tmp_path / "w.tsv", code=2
    )


def test_a_search_tries_settings(tmp_path):
    shown = hybonet("tune", "graph", "--task", "nc", "--out", tmp_path / "search", "--trials", "2", *QUICK)
    assert "--data" not in shown
    assert "Train with the best settings" in shown


def test_found_settings_are_shown_as_the_command_takes_them(files, tmp_path):
    tree = files / "tree"
    given = ["--data", tree / "edges.csv", "--features", tree / "features.csv", "--labels", tree / "labels.csv"]
    shown = hybonet("tune", "graph", *given, "--header", "--out", tmp_path / "search", "--trials", "1", *QUICK)
    assert "--header --recipe" in shown
