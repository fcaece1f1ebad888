"""Knowledge-graph completion end to end on toy graphs."""

import json
import shutil

import pytest
import torch
from typer.testing import CliRunner

from hybonet.cli import app
from hybonet.data.triples.triple_data import TripleData
from hybonet.tasks.knowledge_graph.predictor import KnowledgeGraphModel
from hybonet.tasks.knowledge_graph.task import KnowledgeGraphSettings, KnowledgeGraphTask, evaluate
from hybonet.tasks.run import start
from hybonet.training import Trainer
from tests.toy_graph import toy_graph

SETTINGS = ["--set", "dim=8", "--set", "epochs=3", "--set", "batch_size=16", "--threads", "1"]


@pytest.fixture(scope="module")
def triples(tmp_path_factory):
    """A file of triples: a family of numbers."""
    path = tmp_path_factory.mktemp("data") / "numbers.tsv"
    lines = [f"n{i}\tnext\tn{(i + 1) % 40}" for i in range(40)] + [f"n{i}\tdouble\tn{2 * i % 40}" for i in range(40)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def run(triples, tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "numbers"
    done = CliRunner().invoke(
        app, ["train", "kg", "--data", str(triples), "--out", str(out), "--recipe", "default", *SETTINGS]
    )
    assert done.exit_code == 0, done.output
    return out


@pytest.mark.parametrize("loss", ["softmax", "bce"])
@pytest.mark.parametrize("optimizer", ["riemannian", "chart"])
def test_training_beats_chance(loss, optimizer, tmp_path):
    settings = KnowledgeGraphSettings(
        dim=16, epochs=80, batch_size=20, loss=loss, optimizer=optimizer, lr=0.03, validate_every=20, negatives=10
    )
    data = toy_graph()
    result = Trainer(KnowledgeGraphTask(settings, data), tmp_path).fit()
    assert evaluate(result.model, data, "train")["both"]["mrr"] > 0.8


def test_same_seed_same_weights_other_seed_other(tmp_path):
    states = []
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        settings = KnowledgeGraphSettings(dim=8, epochs=2, loss="bce", seed=seed)
        (tmp_path / name).mkdir()
        states.append(Trainer(KnowledgeGraphTask(settings, toy_graph()), tmp_path / name).fit().model.state_dict())
    assert all(torch.equal(states[0][key], states[1][key]) for key in states[0])
    assert not torch.equal(states[0]["entities.weight"], states[2]["entities.weight"])


def test_evaluation_by_relation_adds_up():
    data = toy_graph()
    task = KnowledgeGraphTask(KnowledgeGraphSettings(dim=8), data)
    result = evaluate(task.build_model().eval(), data, "train")
    parts = result["by_relation"].values()
    total = sum(part["mrr"] * part["count"] for part in parts) / sum(part["count"] for part in parts)
    assert total == pytest.approx(result["both"]["mrr"])
    assert result["both"]["mrr"] == pytest.approx((result["tails"]["mrr"] + result["heads"]["mrr"]) / 2)


def test_a_run_holds_everything_and_can_be_moved(run, tmp_path):
    moved = run.rename(tmp_path / "moved")
    try:
        model = KnowledgeGraphModel.load(moved)
        answers = model.tails("n3", "next", top=5)
        assert len(answers) == 5
        assert sum(a.share for a in model.tails("n3", "next", top=1000)) == pytest.approx(1.0, abs=1e-4)
        assert {a.label for a in model.tails("n3", "next", top=1000) if a.known} <= {"n4"}
        assert "n4" not in {a.label for a in model.tails("n3", "next", top=1000, known=False)} or not any(
            a.known for a in model.tails("n3", "next", top=1000)
        )
        assert {a.label for a in model.relations("n3", "n4")} == {"next", "double"}
        record = json.loads((moved / "record.json").read_text())
        assert {"settings", "seed", "commit", "versions", "data", "seconds", "test", "protocol"} <= record.keys()
        assert record["data"]["sha256"]
    finally:
        moved.rename(run)


def test_predict_reads_and_writes_files(run, tmp_path):
    questions = tmp_path / "questions.csv"
    questions.write_text("head,relation,tail\nn1,next,\n,double,n4\nn1,,n2\n")
    output = tmp_path / "answers.json"
    call = ["predict", str(run), "--questions", str(questions), "--output", str(output), "--top", "2"]
    done = CliRunner().invoke(app, call)
    assert done.exit_code == 0, done.output
    rows = json.loads(output.read_text())
    assert [row["rank"] for row in rows] == [1, 2, 1, 2, 1, 2]
    assert rows[0]["score"] >= rows[1]["score"]


def test_evaluate_prints_tables_and_json(run):
    shown = CliRunner().invoke(app, ["evaluate", str(run), "--split", "valid"])
    assert shown.exit_code == 0
    assert "double" in shown.output
    whole = json.loads(CliRunner().invoke(app, ["evaluate", str(run), "--json"]).output)
    released = json.loads(CliRunner().invoke(app, ["evaluate", str(run), "--json", "--protocol", "paper_code"]).output)
    assert released["both"]["mrr"] >= whole["both"]["mrr"]


def test_evaluate_measures_where_the_record_is_damaged(run, tmp_path):
    copy = shutil.copytree(run, tmp_path / "copy")
    (copy / "record.json").write_text("{broken")
    assert CliRunner().invoke(app, ["evaluate", str(copy), "--split", "valid"]).exit_code == 0


def test_evaluate_by_both_directions(run):
    def mrr(*options):
        return json.loads(CliRunner().invoke(app, ["evaluate", str(run), "--json", *options]).output)["both"]["mrr"]

    one = mrr()
    assert mrr("--inverse-weight", "0") == one
    assert mrr("--inverse-weight", "0.4") == mrr("--inverse-weight", "0.4", "--inverse-power", "0.5") != one
    told = CliRunner().invoke(app, ["evaluate", str(run), "--inverse-weight", "0.4", "--inverse-power", "0.25"]).output
    assert "inverse weight 0.4 (power 0.25)" in told
    assert "inverse weight" not in CliRunner().invoke(app, ["evaluate", str(run)]).output
    for options, reason in (([], "the run has none"), (["--inverse-weight", "0"], "got --inverse-weight 0")):
        refused = CliRunner().invoke(app, ["evaluate", str(run), "--inverse-power", "1", *options])
        assert refused.exit_code == 2
        assert reason in " ".join(refused.output.split())
    call = ["predict", str(run), "--head", "n1", "--relation", "next", "--format", "json"]
    scores = {
        json.loads(CliRunner().invoke(app, [*call, *each]).stdout)[0]["score"]
        for each in ([], ["--inverse-weight", "0.4"])
    }
    assert len(scores) == 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (["train", "kg", "--data", "no_such", "--out", "OUT"], "neither a path nor a name"),
        (["train", "kg", "--data", "TRIPLES", "--out", "OUT", "--set", "epoch=3"], "did you mean 'epochs'"),
        (["train", "kg", "--data", "TRIPLES", "--out", "OUT", "--set", "epochs"], "expected key=value"),
        (["train", "kg", "--data", "TRIPLES", "--out", "OUT", "--set", "epochs=many"], "setting epochs"),
        (["train", "kg", "--data", "TRIPLES", "--out", "OUT", "--set", "K=1"], "setting K"),
        (["train", "kg", "--data", "TRIPLES", "--out", "OUT", "--recipe", "papr-wn18rr-32"], "paper-wn18rr-32"),
        (["train", "kg", "--data", "TRIPLES", "--out", "OUT", "--recipe", "hierarchy"], "is one for train hierarchy"),
        (["train", "kg", "--out", "OUT", "--resume"], "config.json is missing"),
        (["predict", "OUT", "--head", "n1", "--relation", "next"], "config.json is missing"),
        (["predict", "RUN", "--head", "n1"], "expected two of"),
        (["predict", "RUN"], "expected either"),
        (["predict", "RUN", "--head", "zero", "--relation", "next"], "labels look like"),
        (["predict", "RUN", "--head", "n1", "--relation", "nexd"], "did you mean 'next'"),
        (["evaluate", "OUT"], "config.json is missing"),
        (["evaluate", "RUN", "--inverse-power", "1"], "changes nothing without one"),
        (["data", "path", "WN18"], "did you mean"),
        (["recipes", "show", "defalt"], "did you mean 'default'"),
    ],
)
def test_bad_calls_get_one_line_and_leave_nothing(call, message, run, triples, tmp_path):
    places = {"OUT": str(tmp_path / "out"), "TRIPLES": str(triples), "RUN": str(run)}
    done = CliRunner().invoke(app, [places.get(word, word) for word in call])
    assert done.exit_code == 2, done.output
    assert message in done.output
    assert len(done.output.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_a_used_folder_is_refused_and_resume_of_a_finished_run_is_harmless(run, triples):
    again = CliRunner().invoke(app, ["train", "kg", "--data", str(triples), "--out", str(run), *SETTINGS])
    assert again.exit_code == 2
    assert "holds files" in again.output
    before = (run / "model.safetensors").read_bytes()
    assert CliRunner().invoke(app, ["train", "kg", "--out", str(run), "--resume"]).exit_code == 0
    assert (run / "model.safetensors").read_bytes() == before


def test_a_start_that_fails_leaves_nothing(tmp_path, monkeypatch):
    def full_disk(*_):
        assert [path.name for path in tmp_path.iterdir() if not path.name.startswith(".")] == []
        raise OSError("no space left on device")

    monkeypatch.setattr("hybonet.tasks.run.write_sealed", full_disk)
    with pytest.raises(OSError, match="no space"):
        start(tmp_path / "run", "kg", KnowledgeGraphSettings(), toy_graph())
    with pytest.raises(ValueError, match="expected validation triples"):
        start(tmp_path / "run", "kg", KnowledgeGraphSettings(), TripleData.from_labels([("a", "r", "b")]))
    assert list(tmp_path.iterdir()) == []
