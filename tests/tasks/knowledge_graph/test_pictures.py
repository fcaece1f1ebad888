"""`hybonet plot` on a run of a small tree."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from hybonet.cli import app
from hybonet.data.triples.triple_data import TripleData
from hybonet.tasks.knowledge_graph.pictures import _extent
from hybonet.tasks.knowledge_graph.predicted_hierarchy import predicted_hierarchy
from hybonet.tasks.knowledge_graph.predictor import KnowledgeGraphModel

SETTINGS = ["--set", "dim=8", "--set", "epochs=30", "--set", "batch_size=32", "--threads", "1"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plot")
    file = folder / "tree.tsv"
    tree = [f"n{i}\tis_a\tn{i // 3}" for i in range(1, 60)]
    file.write_text("\n".join([*tree, *(f"n{i}\tnext\tn{i + 1}" for i in range(59))]) + "\n")
    done = CliRunner().invoke(app, ["train", "kg", "--data", str(file), "--out", str(folder / "run"), *SETTINGS])
    assert done.exit_code == 0, done.output
    return folder / "run"


def test_all_pictures_of_a_finished_run(run, tmp_path):
    done = CliRunner().invoke(app, ["plot", str(run), "--output", str(tmp_path / "new")])
    assert done.exit_code == 0, done.output
    drawn = done.stdout.split()
    assert {path.split("/")[-1] for path in drawn} >= {"curves.png", "relations.png", "points.png", "disk.png"}
    for path in drawn:
        content = Path(path).read_bytes()
        assert content[:4] == b"\x89PNG" if path.endswith(".png") else content.startswith(b"<!")


def test_unknown_relations_are_refused_before_anything_is_drawn(run, tmp_path):
    done = CliRunner().invoke(app, ["plot", str(run), "--hierarchy", "isa", "--output", str(tmp_path / "none")])
    assert done.exit_code == 2
    assert "did you mean 'is_a'" in done.output
    assert not (tmp_path / "none").exists()


def drawn_texts(run: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str, str]:
    """The title, the note of disk.png and that of disk.html."""
    given = {}
    monkeypatch.setattr(
        "hybonet.tasks.knowledge_graph.pictures.draw_tree", lambda *_, **named: given.update(named) or []
    )
    KnowledgeGraphModel.load(run).plot(folder, hierarchy=["is_a"])
    return given["title"], given["note"], given["page_note"]


def test_each_picture_says_how_it_draws_new_edges(run, tmp_path, monkeypatch):
    for count in (2, 0):

        def some_new(model, relations, count=count):
            tree = predicted_hierarchy(model, relations)
            return replace(tree, new=torch.arange(len(tree.new)) < count, new_and_true=0)

        monkeypatch.setattr("hybonet.tasks.knowledge_graph.pictures.predicted_hierarchy", some_new)
        title, note, page_note = drawn_texts(run, tmp_path, monkeypatch)
        assert title.startswith("tree.tsv as the model sees it: ")
        assert ("Red: 2 parents" in note, "Dashed: 2 parents" in page_note) == (count > 0, count > 0)
        assert "Dashed" not in note
        assert "Red" not in page_note


def test_the_title_says_how_many_entities_are_drawn_and_why_not_all(run):
    graph = KnowledgeGraphModel.load(run).graph
    assert _extent(graph, 60, ["is_a"]) == "all 60 entities"
    assert _extent(graph, 40, ["is_a"]) == "40 of 60 entities (those that the relation joins; small trees left out)"
    least = TripleData.from_labels([("a", "is_a", "b"), ("c", "near", "d")])
    assert _extent(least, 2, ["is_a"]) == "2 of 4 entities (those that the relation joins)"
    assert _extent(least, 3, ["is_a", "near"]).endswith("(those that the relations join; small trees left out)")
