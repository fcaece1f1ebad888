"""The probing commands from start to end, on a treebank of twenty sentences."""

import json
from pathlib import Path

import pytest

from hybonet.data import read_conllu
from tests.cli.probe_mistakes import QUICK, probed, vectors
from tests.cli.staging import run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("probing")
    vectors()(folder)
    probed(folder)
    return folder


def test_evaluate_gives_the_record_again(folder: Path) -> None:
    record = json.loads((folder / "probed/record.json").read_text())
    outcome = run("evaluate probed --json", folder)
    assert json.loads(outcome.output)["layers"] == {str(row["layer"]): row["test"] for row in record["layers"]}
    table = run("evaluate probed", folder).output
    assert f"{record['best_layer']} ←" in table
    assert "UUAS" in table
    assert "chain" in table


def test_predicted_trees_are_trees(folder: Path) -> None:
    assert run("predict probed --layer 1 --output found.conllu", folder).code == 0
    found = read_conllu(folder / "found.conllu")  # refuses what is no tree
    gold = read_conllu(folder / "probed/test.conllu")
    assert [tree.words for tree in found] == [tree.words for tree in gold]
    printed = run("predict probed --layer 1", folder).output
    assert printed == (folder / "found.conllu").read_text()


def test_probe_is_short_for_train_probe(folder: Path) -> None:
    files = "--data vectors.npz --trees trees.conllu"
    outcome = run(f"train probe {files} --out long {QUICK}", folder)
    assert outcome.code == 0, outcome.output
    figures = [json.loads((folder / name / "record.json").read_text())["layers"] for name in ("long", "probed")]
    assert figures[0] == figures[1]
    assert "hybonet plot long" in outcome.output


def test_saved_probes_are_asked_as_the_run(folder: Path) -> None:
    said = run("export probed --output saved", folder)
    assert said.output == (
        "Model: saved (with the test sentences and their states; those of train and valid stay behind)\n"
    )
    assert run("predict saved", folder).output == run("predict probed", folder).output


def test_pictures_go_where_they_are_asked_for(folder: Path) -> None:
    outcome = run("plot probed --sentence 1 --output pictures", folder)
    assert outcome.code == 0, outcome.output
    drawn = {"curves.png", "layers.png", "sentence.png"}
    assert {path.name for path in (folder / "pictures").iterdir()} == drawn


def test_layers_controls_and_probes(folder: Path) -> None:
    command = f"probe vectors.npz --trees trees.conllu --layers 1 --set control=shuffled-labels {QUICK}"
    outcome = run(f"{command} --set probe=euclidean --out other", folder)
    assert outcome.code == 0, outcome.output
    record = json.loads((folder / "other/record.json").read_text())
    assert [row["layer"] for row in record["layers"]] == [1]
    assert record["settings"]["control"] == "shuffled-labels"
    assert {"train", "valid", "test"} <= record.keys()
    # Measured again on the same shuffled trees.
    assert json.loads(run("evaluate other --json", folder).output)["layers"] == {"1": record["layers"][0]["test"]}
    more = run("probe --out other --resume --set epochs=3 --threads 1", folder)
    assert more.code == 0, more.output
    assert json.loads((folder / "other/record.json").read_text())["epochs"] == 3


def test_other_commands_know_how_the_run_was_made(folder: Path) -> None:
    outcome = run("train kg --out probed --resume", folder)
    assert outcome.code == 2
    assert "it was made by hybonet train probe" in outcome.message
    assert (
        "hybonet train probe --data ENCODER --recipe paper-probe --set"
        in run("recipes show paper-probe", folder).output
    )
