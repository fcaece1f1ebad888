"""Runs on disk: whole or not at all, never over somebody's files, and complete enough to measure again."""

import json
from pathlib import Path

import pytest
import torch

from hybonet.data import Hierarchy
from hybonet.tasks.hierarchy_embedding import HierarchyEmbeddingConfig, TrainedHierarchy, measure, train
from hybonet.tasks.run_directory import new_run, read_run, write_run

FAMILY = Hierarchy.from_edges([("dog", "canine"), ("wolf", "canine"), ("cat", "feline"), ('a "quoted" name', "feline")])
CONFIG = HierarchyEmbeddingConfig(epochs=5, K=-0.5, seed=4)


@pytest.fixture(scope="module")
def trained() -> TrainedHierarchy:
    return train(CONFIG, FAMILY)


def write(out: Path, trained: TrainedHierarchy, *, overwrite: bool = False) -> None:
    with new_run(out, overwrite=overwrite) as staging:
        write_run(staging, CONFIG, FAMILY, trained)


def test_a_run_reads_back(tmp_path: Path, trained: TrainedHierarchy) -> None:
    write(tmp_path / "deep" / "run", trained)
    run = read_run(tmp_path / "deep" / "run")
    assert run.config == CONFIG
    assert run.hierarchy.names == FAMILY.names
    assert torch.equal(run.hierarchy.edges, FAMILY.edges)
    assert torch.equal(run.table.weight, trained.table.weight)
    assert measure(run.table.weight, run.hierarchy, run.table.manifold) == trained.final
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["run"]


def test_the_record_carries_its_provenance(tmp_path: Path, trained: TrainedHierarchy) -> None:
    write(tmp_path / "run", trained)
    record = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert record["metrics"]["mean_rank"] == trained.final.mean_rank
    assert record["config"] == CONFIG.model_dump()
    assert record["seed"] == 4
    assert record["data"]["sha256"] == FAMILY.sha256
    assert record["data"]["pairs"] == 4
    assert record["versions"]["torch"] == torch.__version__
    assert record["threads"] == torch.get_num_threads()
    assert record["dtype"] == "float64"
    assert "Nickel & Kiela" in record["protocol"]
    assert record["seconds"] > 0
    assert {"commit", "created", "machine", "device"} <= record.keys()


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt])
def test_a_failure_leaves_nothing(tmp_path: Path, failure: type[BaseException]) -> None:
    def interrupted() -> None:
        with new_run(tmp_path / "runs" / "first") as staging:
            (staging / "config.json").write_text("{}")
            raise failure

    with pytest.raises(failure):
        interrupted()
    assert list(tmp_path.iterdir()) == []


def test_a_failure_keeps_the_earlier_run(tmp_path: Path, trained: TrainedHierarchy) -> None:
    write(tmp_path / "run", trained)
    with pytest.raises(RuntimeError), new_run(tmp_path / "run", overwrite=True):
        raise RuntimeError
    assert read_run(tmp_path / "run").config == CONFIG
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_overwriting_needs_to_be_asked_for(tmp_path: Path, trained: TrainedHierarchy) -> None:
    (tmp_path / "run").mkdir()
    write(tmp_path / "run", trained)  # an empty folder is fine
    with pytest.raises(ValueError, match=r"holds an earlier run; add --overwrite"):
        write(tmp_path / "run", trained)
    (tmp_path / "run" / "disk.png").write_bytes(b"of the earlier run")
    write(tmp_path / "run", trained, overwrite=True)
    assert not (tmp_path / "run" / "disk.png").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_foreign_files_are_never_replaced(tmp_path: Path, trained: TrainedHierarchy) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(ValueError, match=r"holds 'thesis.tex'; choose another"):
        write(tmp_path, trained, overwrite=True)
    with pytest.raises(ValueError, match="got the file"):
        write(tmp_path / "thesis.tex", trained, overwrite=True)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_broken_runs_are_explained(tmp_path: Path, trained: TrainedHierarchy) -> None:
    with pytest.raises(ValueError, match=r"'config.json' is missing"):
        read_run(tmp_path)
    write(tmp_path / "run", trained)
    (tmp_path / "run" / "labels.tsv").write_text("dog\n")
    with pytest.raises(ValueError, match="come from different runs"):
        read_run(tmp_path / "run")
