"""Exports: other tools read back what the model has."""

import csv
import sys

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from hybonet import KnowledgeGraphModel, Lorentz
from hybonet.cli import app
from hybonet.tasks.knowledge_graph.models.triple_scorer import TripleScorer
from tests.toy_graph import toy_graph


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    return KnowledgeGraphModel(TripleScorer(20, 2, 6, manifold=Lorentz(-0.5)), toy_graph())


@pytest.fixture(scope="module")
def saved(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "toy"
    model.save_pretrained(folder)
    return folder


def export(saved, *arguments):
    return CliRunner().invoke(app, ["export", str(saved), *map(str, arguments)])


def read(path):
    """Labels, names, column names and coordinates of an exported table."""
    if path.suffix == ".npz":
        content = np.load(path)  # without pickle
        return content["labels"].tolist(), content["names"].tolist(), None, content["vectors"]
    if path.suffix == ".parquet":
        table = pytest.importorskip("pyarrow.parquet").read_table(path)
        columns = table.column_names[2:]
        vectors = np.stack([table.column(name).to_numpy() for name in columns], axis=1)
        assert table.schema.metadata[b"K"] == b"-0.5"
        return table.column("label").to_pylist(), table.column("name").to_pylist(), columns, vectors
    with open(path, newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file, delimiter="\t" if path.suffix == ".tsv" else ",")
    assert header[:2] == ["label", "name"]
    vectors = np.array([[float(cell) for cell in row[2:]] for row in rows], dtype=np.float32)
    return [row[0] for row in rows], [row[1] for row in rows], header[2:], vectors


@pytest.mark.parametrize("ending", ["tsv", "csv", "parquet", "npz"])
def test_vectors_are_read_back_to_the_last_bit(model, saved, tmp_path, ending):
    path = tmp_path / "new" / f"vectors.{ending}"
    done = export(saved, "--to", "vectors", "--output", path)
    assert done.exit_code == 0, done.output
    assert "20 vectors of 6 lorentz coordinates (K = -0.5)" in done.output
    labels, names, columns, vectors = read(path)
    assert labels == list(model.graph.entities)
    assert names == [model.graph.entities.name(i) for i in range(20)]
    assert columns in (None, [f"x{i}" for i in range(6)])
    # Points as the model uses them: within max_norm, which the table itself may exceed.
    assert np.array_equal(vectors, model.scorer.entities(torch.arange(20)).detach().numpy())
    again = export(saved, "--to", "vectors", "--output", path)
    assert again.exit_code == 2
    assert "exists" in again.output


@pytest.mark.parametrize("chart", ["poincare", "klein", "tangent"])
def test_charts_lead_back_to_the_points(model, saved, tmp_path, chart):
    assert export(saved, "--to", "vectors", "--output", tmp_path / "v.csv", "--chart", chart).exit_code == 0
    _, _, columns, vectors = read(tmp_path / "v.csv")
    assert columns == [f"x{i}" for i in range(1, 6)]
    manifold, given = model.scorer.manifold, torch.from_numpy(vectors)
    back = {
        "poincare": manifold.from_poincare,
        "klein": manifold.from_klein,
        "tangent": lambda v: manifold.expmap0(torch.nn.functional.pad(v, (1, 0))),
    }[chart](given)
    torch.testing.assert_close(back, model.scorer.entities(torch.arange(20)).detach(), rtol=1e-4, atol=1e-5)


def test_pretrained_folder(model, saved, tmp_path):
    assert export(saved, "--to", "pretrained", "--output", tmp_path / "copy").exit_code == 0
    assert KnowledgeGraphModel.from_pretrained(tmp_path / "copy").tails("n3", "next") == model.tails("n3", "next")
    again = export(saved, "--to", "pretrained", "--output", tmp_path / "copy")
    assert (again.exit_code, "holds files" in again.output) == (2, True)


def test_pykeen_reads_its_folder(model, saved, tmp_path):
    pytest.importorskip("pykeen")
    from pykeen.evaluation import RankBasedEvaluator
    from pykeen.triples import TriplesFactory

    from hybonet.interop.pykeen import PykeenModel
    from hybonet.tasks.knowledge_graph.task import evaluate

    done = export(saved, "--to", "pykeen", "--output", tmp_path / "out", "--chart", "tangent")
    assert done.exit_code == 0, done.output
    parts = ("training_triples", "validation_triples", "testing_triples")
    train, valid, test = (TriplesFactory.from_path_binary(tmp_path / "out" / part) for part in parts)
    assert torch.equal(train.mapped_triples, model.graph.train)
    assert train.entity_to_id == {label: number for number, label in enumerate(model.graph.entities)}
    assert np.load(tmp_path / "out" / "entity_embeddings.npy").shape == (20, 5)
    known = [train.mapped_triples, valid.mapped_triples]
    result = RankBasedEvaluator().evaluate(
        PykeenModel(model.scorer, train), test.mapped_triples, additional_filter_triples=known, use_tqdm=False
    )
    ours = evaluate(model.scorer, model.graph, "test")["both"]["mrr"]
    assert result.get_metric("mrr") == pytest.approx(ours, rel=1e-6)


def test_without_pykeen_or_faiss_the_error_says_what_to_install(saved, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "hybonet.tasks.knowledge_graph.pykeen", None)
    monkeypatch.setitem(sys.modules, "faiss", None)
    done = export(saved, "--to", "pykeen", "--output", tmp_path / "out")
    assert (done.exit_code, "pip install hybonet[pykeen]" in done.output) == (2, True)
    assert list(tmp_path.iterdir()) == []
    done = CliRunner().invoke(app, ["predict", str(saved), "--head", "n1", "--relation", "next", "--faiss"])
    assert (done.exit_code, "pip install 'hybonet[faiss]'" in done.output) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--to", "vectors", "--output", "OUT"], "expected a file ending in .tsv, .csv, .parquet, .npz"),
        (["--to", "pretrained", "--output", "OUT", "--chart", "klein"], "--chart"),
        (["--to", "vectors", "--output", "OUT.csv", "--chart", "mercator"], "mercator"),
        (["--to", "word2vec", "--output", "OUT"], "word2vec"),
    ],
)
def test_bad_calls_are_errors_and_leave_nothing(saved, tmp_path, arguments, message):
    done = export(saved, *(word.replace("OUT", str(tmp_path / "out")) for word in arguments))
    assert done.exit_code == 2
    assert message in done.output
    assert list(tmp_path.iterdir()) == []
