"""What people who work in Python expect: names that are numbers, tables as data, data frames as answers, notebooks."""

import os
import subprocess
import sys
from pathlib import Path

import networkx
import numpy as np
import pytest
import rich.console

import hybonet
from hybonet.data import load_treebank
from hybonet.reporting.answers import Answers, Measures

RING = [(n, name, (n + step) % 30) for n in range(30) for name, step in (("next", 1), ("second", 2))]
pytestmark = pytest.mark.filterwarnings("ignore:.*:UserWarning")


@pytest.fixture(scope="module")
def ring():
    return hybonet.train("kg", RING, epochs=1, dim=6, reporter=False)


def test_names_may_be_numbers(ring) -> None:
    assert ring.predict(head=3, relation="next", top=2) == ring.predict(head="3", relation="next", top=2)
    assert ring.predict(head=np.int64(3), relation="next", top=2)[0]["head"] == "3"
    assert ring.similar(3, top=2) == ring.similar("3", top=2)
    with pytest.raises(ValueError, match="expected a name that the model knows, got '99'"):
        ring.similar(99)


def test_one_node_stands_for_a_list_of_one() -> None:
    model = hybonet.train("graph", networkx.karate_club_graph(), epochs=1, dim=6, reporter=False)
    one = model.predict(node=3, top=2)
    assert one == model.predict(node="3", top=2) == model.predict(node=["3"], top=2)
    assert [row["node"] for row in model.predict(node=(3, 4), top=1)] == ["3", "4"]


def test_columns_may_be_a_list() -> None:
    rows = [{"id": n, "who": h, "does": r, "whom": t} for n, (h, r, t) in enumerate(RING)]
    model = hybonet.train("kg", rows, columns=["who", "does", "whom"], epochs=1, dim=4, reporter=False)
    assert len(model.graph.entities) == 30


def test_tables_of_nodes_may_be_in_memory() -> None:
    edges, labels = [(n, (n + 1) % 40) for n in range(40)], {n: "ab"[n % 2] for n in range(40)}
    features = [(n, float(n)) for n in range(40)]
    model = hybonet.train("graph", edges, task="nc", labels=labels, features=features, epochs=1, dim=4, reporter=False)
    assert model.graph.statistics() == {"nodes": 40, "edges": 40, "features": 1, "classes": 2}


def test_labels_without_a_task_are_not_learned_and_that_is_said() -> None:
    edges, labels = [(n, (n + s) % 40) for n in range(40) for s in (1, 2)], {n: "ab"[n % 2] for n in range(40)}
    with pytest.warns(UserWarning, match="links are predicted; for the classes of the labels, say task=nc"):
        hybonet.train("graph", edges, labels=labels, recipe="graph-lp", epochs=1, dim=4, reporter=False)


@pytest.mark.parametrize(
    ("task", "data", "chosen", "told"),
    [
        ("graph", [(n, (n + s) % 30) for n in range(30) for s in (1, 2)], {}, "3 edges for valid and 6 for test held"),
        ("kg", RING, {}, "3 triples for valid and 3 triples for test held out with seed 0"),
        ("translation", [(f"dog {n}", f"Hund {n}") for n in range(40)], {"steps": 1}, "2 pairs for valid and 2 pairs"),
        ("typing", [(f"The [mayor] spoke {n}.", ["person"]) for n in range(30)], {}, "split into 24 train, 3 valid"),
    ],
)
def test_what_has_no_validation_part_is_split_and_that_is_said(task, data, chosen, told) -> None:
    sizes = {"heads": 2, "feedforward": 16} if task in ("translation", "typing") else {}
    with pytest.warns(UserWarning, match=told):
        hybonet.train(task, data, epochs=1, dim=8, reporter=False, **sizes, **chosen)


def test_a_translator_in_memory_is_probed_with_trees_in_memory(tmp_path: Path) -> None:
    sizes = {"dim": 16, "heads": 2, "feedforward": 16, "layers": 1, "steps": 1, "epochs": 1}
    pairs = [(f"The dog {n}", f"Der Hund {n}") for n in range(40)]
    translator = hybonet.train("translation", pairs, out=tmp_path / "run", reporter=False, **sizes)
    trees = [*load_treebank("toy").test[:20]]
    with pytest.warns(UserWarning, match="every tenth sentence is held out: 2 for valid and 2 for test"):
        model = hybonet.train("probe", translator, trees=trees, epochs=1, dim=4, reporter=False)
    from_folder = hybonet.train("probe", tmp_path / "run", trees=trees, epochs=1, dim=4, reporter=False)
    assert model.evaluate() == from_folder.evaluate()
    with pytest.raises(ValueError, match="expected what to probe, got dict"):
        hybonet.train("probe", {}, trees=trees, reporter=False)


def test_answers_figures_and_vectors_are_data_frames(ring) -> None:
    pytest.importorskip("pandas")
    assert ring.predict(head=3, relation="next", top=4).to_pandas().shape[0] == 4
    figures = ring.evaluate().to_pandas().set_index("measure")["value"]
    assert figures["both mrr"] == ring.evaluate()["both"]["mrr"]
    frame = ring.vectors().to_pandas()
    assert list(frame.columns) == ["label", "name", *(f"x{n}" for n in range(6))]
    assert (frame.iloc[:, 2:].to_numpy() == ring.vectors().values).all()


def test_a_notebook_shows_everything_once(ring, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rich.console, "_is_jupyter", lambda: True)
    monkeypatch.setattr("rich.jupyter.display", lambda *_: pytest.fail("shown besides"))
    answers = Answers([{"name": "<dog>"}])
    assert "dog" in str(answers)
    assert "&lt;dog&gt;" in answers._repr_html_()
    assert "0.5" in Measures({"test": {"mrr": 0.5}})._repr_html_()
    assert "lorentz coordinates" in ring.vectors()._repr_html_()
    assert "TripleScorer" in ring._repr_html_()
    record = ring.record
    assert "MRR" in record._repr_html_()
    assert record == ring.run.record == hybonet.load(ring.run.folder).record


def test_processes_of_torchrun_train_one_run_and_each_returns_it(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import hybonet, os, sys\n"
        "ring = [(f'n{i}', name, f'n{(i + step) % 9}') for i in range(9) for name, step in (('a', 1), ('b', 2))]\n"
        "model = hybonet.train('kg', ring, epochs=1, dim=8, reporter=False)\n"
        "with open(os.path.join(sys.argv[1], os.environ['RANK']), 'w') as file:\n"
        "    print(model.run.folder, model.predict(head='n0', relation='a', top=2), file=file)\n"
    )
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore", "TMPDIR": str(tmp_path)}
    for _ in range(3):
        call = [*command, str(script), str(tmp_path)]
        done = subprocess.run(call, env=environment, capture_output=True, text=True, check=False)
        if "SIGABRT" not in done.stderr:  # gloo's listener can abort as connections are made (pytorch/gloo#514)
            break
    assert done.returncode == 0, done.stderr[-3000:]
    assert (tmp_path / "0").read_text() == (tmp_path / "1").read_text()
