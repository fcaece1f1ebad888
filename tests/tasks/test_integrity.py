"""A run knows its files again: damage is named by verify, and never loaded."""

import json
import shutil
from pathlib import Path

import pytest
from safetensors.torch import save_file
from typer.testing import CliRunner

from hybonet import load
from hybonet.cli import app
from hybonet.data import Hierarchy
from hybonet.tasks.hierarchy.task import HierarchySettings
from hybonet.tasks.run import Run, start
from hybonet.tasks.run_folder import write_sealed
from hybonet.training.checkpoint import read_tensors, write_tensors
from hybonet.training.loop import BEST, LAST, checkpoints
from tests.training.toy import StopAt

FAMILY = Hierarchy.from_edges([("dog", "canine"), ("wolf", "canine"), ("cat", "feline")])
GOLDEN = Path(__file__).parents[1] / "golden_runs"


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    settings = HierarchySettings(epochs=6, dim=3, checkpoint_seconds=0, keep=3, average=2, validate_every=1)
    run = start(tmp_path_factory.mktemp("runs") / "run", "hierarchy", settings, FAMILY)
    run.train()
    run.predictor().save_pretrained(run.folder.with_name("saved"))
    return run.folder


def states(folder: Path) -> dict[str, str]:
    return {each.name: each.state for each in Run(folder).verify()}


@pytest.mark.parametrize("name", ["run", "saved"])
def test_every_file_but_pictures_and_cards_has_a_checksum(finished: Path, name: str) -> None:
    found = states(finished.with_name(name))
    assert set(found) == {path.name for path in finished.with_name(name).iterdir()}
    assert {file for file, state in found.items() if state != "whole"} <= {"curves.png", "README.md"}
    done = CliRunner().invoke(app, ["verify", str(finished.with_name(name))])
    assert done.exit_code == 0, done.output
    assert "model.safetensors" in done.output


@pytest.mark.parametrize("name", ["run", "saved"])
def test_a_flipped_bit_is_found_and_never_loaded(finished: Path, tmp_path: Path, name: str) -> None:
    names = [file for file, state in states(finished.with_name(name)).items() if state == "whole"]
    assert len(names) >= 4
    for file in names:
        folder = tmp_path / file
        shutil.copytree(finished.with_name(name), folder)
        content = bytearray((folder / file).read_bytes())
        place = (
            content.rindex(b"7") if b"7" in content and file.endswith((".json", ".jsonl")) else 2 * len(content) // 3
        )
        content[place] ^= 1  # 7 is 6 then, and the JSON as good as before
        (folder / file).write_bytes(content)
        if file != "config.json":
            assert {each for each, state in states(folder).items() if state == "damaged"} == {file}
        done = CliRunner().invoke(app, ["verify", str(folder)])
        assert done.exit_code == 2
        assert file in done.output.splitlines()[-1]
        if file in (LAST, "history.jsonl") or file.startswith(("checkpoint-", "epoch-")):
            continue  # of the training alone; see below
        with pytest.raises(ValueError, match=rf"{file}.*(expected the|damaged|does not fit)"):
            _ = load(folder).record


def test_the_race_that_chose_the_settings_has_a_checksum_too(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished, tmp_path / "run")
    write_sealed(tmp_path / "run/auto.json", {"rounds": [7]})
    assert states(tmp_path / "run")["auto.json"] == "whole"
    text = (tmp_path / "run/auto.json").read_text()
    (tmp_path / "run/auto.json").write_text(text.replace("7\n", "6\n"))
    assert states(tmp_path / "run")["auto.json"] == "damaged"


@pytest.mark.parametrize("name", ["config.json", "record.json"])
def test_a_checksum_that_lost_its_name_is_noticed(finished: Path, tmp_path: Path, name: str) -> None:
    shutil.copytree(finished, tmp_path / "run")
    text = (tmp_path / "run" / name).read_text()
    (tmp_path / "run" / name).write_text(text.replace('\n "sha256": "', '\n "sha056": "'))
    with pytest.raises(ValueError, match=rf"{name}: expected the content that its sha256 is of"):
        _ = Run(tmp_path / "run").record
    without = [line for line in text.splitlines() if not line.startswith(' "sha256": "')]
    (tmp_path / "run" / name).write_text("\n".join(without).replace(",\n}", "\n}"))
    assert Run(tmp_path / "run").record == Run(finished).record  # taken out by hand


def test_weights_that_lost_their_checksum_are_not_loaded(finished: Path, tmp_path: Path) -> None:
    """Damage to the name of the checksum in the header would otherwise make them a file of an earlier version."""
    shutil.copytree(finished, tmp_path / "run")
    save_file(read_tensors(finished / BEST), tmp_path / "run" / BEST)
    with pytest.raises(ValueError, match="expected weights with the checksum"):
        load(tmp_path / "run")


def test_a_missing_file_is_said(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished, tmp_path / "run")
    listed = next(iter(Run(finished).config["files"]))
    (tmp_path / "run" / listed).unlink()
    assert states(tmp_path / "run")[listed] == "missing"
    assert CliRunner().invoke(app, ["verify", str(tmp_path / "run"), "--quiet"]).exit_code == 2


def test_what_earlier_versions_wrote_is_not_checked() -> None:
    for folder in GOLDEN.iterdir():
        assert set(states(folder).values()) == {"not checked"}


def test_a_configuration_that_was_changed_on_purpose_is_taken_without_its_checksum(finished, tmp_path) -> None:
    shutil.copytree(finished, tmp_path / "run")
    path = tmp_path / "run" / "config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps({**config, "recipe": "mine"}))
    with pytest.raises(ValueError, match="take out its line 'sha256' if you changed it yourself"):
        Run(path.parent)
    del config["sha256"]
    path.write_text(json.dumps(config))
    assert Run(path.parent).model() is not None


def test_settings_of_absurd_sizes_are_refused_before_memory_is_taken(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished, tmp_path / "run")
    path = tmp_path / "run" / "config.json"
    for dim in (2**26, 10**15, 10**30):
        config = Run(finished).config
        path.write_text(json.dumps({**config, "settings": {**config["settings"], "dim": dim}}))
        with pytest.raises(ValueError, match=r"expected a model of at most .*config.json does not fit|setting dim"):
            Run(path.parent).model()
    with pytest.raises(ValueError, match=r"expected a model of at most .*choose smaller settings"):
        start(tmp_path / "new", "hierarchy", HierarchySettings(dim=10**12), FAMILY)
    assert not (tmp_path / "new").exists()


def test_a_resumed_training_takes_the_newest_checkpoint_that_is_whole(finished: Path, tmp_path: Path) -> None:
    assert len(checkpoints(finished)) == 3
    for damaged in (1, 2, 3):
        folder = tmp_path / str(damaged)
        shutil.copytree(finished, folder)
        for path in checkpoints(folder)[:damaged]:
            path.write_bytes(path.read_bytes()[:-9])
        if damaged == 3:
            with pytest.raises(ValueError, match=r"checkpoint\.safetensors: expected a checkpoint, got a damaged one"):
                Run(folder).train(resume=True)
            continue
        with pytest.warns(UserWarning, match="damaged or missing; going on from checkpoint-"):
            Run(folder).train(resume=True)
        for name in (LAST, BEST):
            found, wanted = read_tensors(folder / name), read_tensors(finished / name)
            assert all(found[key].equal(value) for key, value in wanted.items())
        assert set(states(folder).values()) <= {"whole", "not checked"}


def test_fewer_checkpoints_are_kept_when_asked(tmp_path: Path) -> None:
    run = start(tmp_path / "run", "hierarchy", HierarchySettings(epochs=6, checkpoint_seconds=0, keep=3), FAMILY)
    with pytest.raises(Exception, match="stopped by"):
        run.train(reporter=StopAt(4))
    assert len(checkpoints(run.folder)) == 3
    run.change_settings(["keep=1"])
    run.train(resume=True)
    assert checkpoints(run.folder) == [run.folder / LAST]


def test_a_changed_history_is_not_gone_on_from(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished, tmp_path / "run")
    path = tmp_path / "run" / "history.jsonl"
    path.write_text(path.read_text().replace('"epoch": 2', '"epoch": 3'))
    with pytest.raises(ValueError, match=r"history\.jsonl: expected the 6 lines that the checkpoint is of"):
        Run(tmp_path / "run").train(resume=True)
    path.unlink()
    assert Run(tmp_path / "run").train(resume=True).best["mean_average_precision"] > 0


def test_a_model_of_another_moment_does_not_finish_a_run(finished: Path, tmp_path: Path) -> None:
    """The figures of the record are those of the file, not of what was in memory."""
    shutil.copytree(finished, tmp_path / "run")
    path = tmp_path / "run" / BEST
    write_tensors(path, {name: value.flip(0) for name, value in read_tensors(path).items()})
    with pytest.raises(
        ValueError, match=r"model\.safetensors: expected the model of epoch .*, but validation measures"
    ):
        Run(tmp_path / "run").train(resume=True)
