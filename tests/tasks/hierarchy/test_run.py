"""A hierarchy's run: complete enough to measure again, stopped and resumed bit for bit, with its provenance."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from hybonet.data import Hierarchy
from hybonet.tasks.hierarchy.predictor import HierarchyModel
from hybonet.tasks.hierarchy.task import HierarchySettings, measure
from hybonet.tasks.run import Run, start
from hybonet.training import Interrupted
from tests.cli.staging import forget_checksums
from tests.training.toy import StopAt

FAMILY = Hierarchy.from_edges([("dog", "canine"), ("wolf", "canine"), ("cat", "feline"), ('a "quoted" name', "feline")])
SETTINGS = HierarchySettings(epochs=5, K=-0.5, seed=4, batch_size=3, validate_every=2)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "family"
    start(folder, "hierarchy", SETTINGS, FAMILY, recipe="hierarchy").train()
    return folder


def test_a_run_reads_back(run: Path) -> None:
    read = HierarchyModel.load(run)
    assert Run(run).settings == read.task.settings == SETTINGS
    assert read.hierarchy.names == FAMILY.names
    assert torch.equal(read.hierarchy.edges, FAMILY.edges)
    assert (
        asdict(measure(read.points, read.hierarchy, read.manifold))
        == read.record["metrics"]
        == read.evaluate()["metrics"]
    )
    assert read.manifold.check_point(read.points)


def test_config_and_record_carry_their_provenance(run: Path) -> None:
    config, record = (json.loads((run / name).read_text()) for name in ("config.json", "record.json"))
    assert config["task"] == record["task"] == "hierarchy"
    assert config["recipe"] == "hierarchy"
    assert record["settings"] == config["settings"] == SETTINGS.model_dump()
    assert record["seed"] == 4
    assert record["data"]["sha256"] == config["hierarchy"]["sha256"] == FAMILY.sha256
    assert record["data"]["pairs"] == 4
    assert record["versions"]["torch"] == torch.__version__
    assert record["threads"] == torch.get_num_threads()
    assert record["dtype"] == "float64"
    assert "Nickel & Kiela" in record["protocol"]
    assert record["metrics_at_start"].keys() == record["metrics"].keys()
    assert {"commit", "created", "machine", "device", "seconds", "best_epoch"} <= record.keys()


@pytest.mark.parametrize("at", [1, 2, 5])
def test_stopped_and_resumed_equals_uninterrupted(run: Path, tmp_path: Path, at: int) -> None:
    with pytest.raises(Interrupted):
        start(tmp_path / "run", "hierarchy", SETTINGS, FAMILY).train(reporter=StopAt(at))
    Run(tmp_path / "run").train(resume=True)
    for name in ("checkpoint.safetensors", "model.safetensors"):
        straight, resumed = load_file(run / name), load_file(tmp_path / "run" / name)
        assert straight.keys() == resumed.keys()
        assert all(torch.equal(straight[key], resumed[key]) for key in straight)
    history = [(folder / "history.jsonl").read_text().splitlines() for folder in (run, tmp_path / "run")]
    first, second = (
        [{k: v for k, v in json.loads(line).items() if "seconds" not in k} for line in lines] for lines in history
    )
    assert first == second


def test_what_cannot_be_trained_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="single chain of 3 nodes"):
        start(tmp_path / "run", "hierarchy", SETTINGS, Hierarchy.from_edges([("a", "b"), ("b", "c")]))
    assert list(tmp_path.iterdir()) == []


def test_broken_runs_are_explained(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"config.json is missing"):
        HierarchyModel.load(tmp_path)
    start(tmp_path / "run", "hierarchy", SETTINGS, FAMILY)
    with pytest.raises(ValueError, match="no model yet"):
        HierarchyModel.load(tmp_path / "run")
    (tmp_path / "run" / "labels.tsv").write_text("dog\n")
    forget_checksums(tmp_path / "run")
    with pytest.raises(ValueError, match="come from different runs"):
        HierarchyModel.load(tmp_path / "run")
    (tmp_path / "run" / "labels.tsv").unlink()
    with pytest.raises(ValueError, match=r"labels.tsv in the run, but it is missing"):
        HierarchyModel.load(tmp_path / "run")
