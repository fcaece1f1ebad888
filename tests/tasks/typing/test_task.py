"""Entity typing from files to answers: the loss, a training, its run folder and every command on it."""

import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from sklearn.metrics import log_loss
from typer.testing import CliRunner

from hybonet import TypingModel
from hybonet.cli import app
from hybonet.data.mentions.loading import load_mentions
from hybonet.data.mentions.mention_data import Mention
from hybonet.recipes import recipe, recipes
from hybonet.tasks.run import Run
from hybonet.tasks.typing.report import question
from hybonet.tasks.typing.task import EntityTypingTask, TypingSettings, level_loss
from hybonet.training import Interrupted, Reporter, Trainer, override

QUICK = ("dim=16", "feedforward=16", "heads=2", "layers=1", "epochs=4", "validate_every=2", "lr=0.02")


@pytest.fixture(scope="module")
def town():
    return load_mentions("little-town")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """One short training, which the tests of commands share."""
    folder = tmp_path_factory.mktemp("runs") / "town"
    changes = [word for change in QUICK for word in ("--set", change)]
    result = CliRunner().invoke(app, ["train", "typing", "--out", str(folder), "--threads", "1", *changes])
    assert result.exit_code == 0, result.output
    assert "macro precision" in result.output
    return folder


def command(*words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_loss_is_summed_over_levels_that_a_mention_has():
    torch.manual_seed(0)
    logits, levels = torch.randn(5, 6), torch.tensor([0, 0, 1, 1, 1, 2])
    targets = torch.zeros(5, 6)
    targets[0, 0] = targets[1, 2] = targets[1, 0] = targets[3, 5] = 1  # rows 2 and 4 have no type at all
    expected = 0.0
    for level in range(3):
        columns = levels == level
        rows = targets[:, columns].any(1)
        chance = torch.sigmoid(logits[rows][:, columns]).double().flatten()
        expected += log_loss(targets[rows][:, columns].flatten(), chance, labels=[0, 1])
    assert level_loss(logits, targets, levels).item() == pytest.approx(expected, rel=1e-5)


def test_training_learns_the_town(run):
    record = json.loads((run / "record.json").read_text())
    history = [json.loads(line) for line in (run / "history.jsonl").read_text().splitlines()]
    assert history[-1]["loss"] < 0.7 * history[0]["loss"]
    assert record["test"]["coarse"]["f1"] > 0.6  # guessing the most frequent gives a third
    assert set(record["test"]) == {"total", "coarse", "fine", "ultra-fine"}
    assert record["valid"]["total"]["f1"] == pytest.approx(history[record["best_epoch"] - 1]["f1"])
    assert record["valid_calibrated"]["total"]["f1"] >= record["valid"]["total"]["f1"]
    assert record["data"]["types"] == {"coarse": 5, "fine": 11, "ultra-fine": 26}


def test_a_stopped_training_goes_on_bit_for_bit(town, tmp_path):
    small = replace(town, train=town.train[:60], valid=town.valid[:20])
    settings = override(TypingSettings(batch_size=20, word_dropout=0.2), [*QUICK, "epochs=2"])

    class StopAfter(Reporter):
        count = 0

        def advance(self, epoch, loss):
            self.count += 1
            if self.count == 4:
                raise Interrupted("enough")

    (tmp_path / "whole").mkdir()
    (tmp_path / "parts").mkdir()
    Trainer(EntityTypingTask(settings, small), tmp_path / "whole").fit()
    eager = settings.model_copy(update={"checkpoint_seconds": 0.0})
    with pytest.raises(Interrupted):
        Trainer(EntityTypingTask(eager, small), tmp_path / "parts", reporter=StopAfter()).fit()
    Trainer(EntityTypingTask(settings, small), tmp_path / "parts").fit(resume=True)
    first, second = (load_file(tmp_path / name / "model.safetensors") for name in ("whole", "parts"))
    assert all(torch.equal(first[key], second[key]) for key in first)


def test_evaluate_says_what_the_record_says(run):
    record = json.loads((run / "record.json").read_text())
    measured = json.loads(command("evaluate", run, "--json"))
    assert measured["total"]["f1"] == pytest.approx(record["test"]["total"]["f1"])
    calibrated = json.loads(command("evaluate", run, "--calibrate", "--json"))
    assert calibrated["threshold"] == record["test_calibrated"]["threshold"]
    assert "ultra-fine" in command("evaluate", run, "--split", "valid")
    assert json.loads(command("evaluate", run, "--threshold", 0, "--json"))["total"]["predicted"] == 42  # every type


def test_probabilities_hold_and_are_those_of_the_saved_model(run, tmp_path):
    model = TypingModel.load(run)
    total = model.evaluate(split="valid")["total"]
    assert total["calibration"]["ece"] < 0.06
    assert total["interval"]["f1"][0] < total["f1"] < total["interval"]["f1"][1]
    model.save_pretrained(tmp_path / "saved")
    asked = {"sentence": "The [mayor] spoke.", "top": 5}
    assert TypingModel.load(tmp_path / "saved").predict(**asked) == model.predict(**asked)
    model.record = None
    assert model.predict(**asked).notes[0].startswith("no calibration")


def test_predict_ranks_types(run, tmp_path):
    rows = json.loads(command("predict", run, "--sentence", "The [baker] sold rolls.", "--top", 42, "--format", "json"))
    chances = [row["probability"] for row in rows]
    assert len(rows) == 42
    assert chances == sorted(chances, reverse=True)
    assert rows[0]["predicted"]
    assert all(row["predicted"] == (row["probability"] > 0.5) for row in rows[1:])
    by_mention = command("predict", run, "--sentence", "The baker sold rolls.", "--mention", "baker", "--top", 42)
    assert "[baker]" in by_mention
    (tmp_path / "asked.jsonl").write_text((run / "mentions_test.jsonl").read_text())
    command("predict", run, "--mentions", tmp_path / "asked.jsonl", "--output", tmp_path / "answers.tsv")
    lines = (tmp_path / "answers.tsv").read_text().splitlines()
    assert lines[0].split("\t")[:4] == ["mention", "sentence", "rank", "type"]
    assert lines[-1].startswith("120\t")


def test_a_saved_model_answers_the_same_without_the_sentences(run, tmp_path):
    command("export", run, "--to", "pretrained", "--output", tmp_path / "model")
    assert not list((tmp_path / "model").glob("mentions*"))
    ours, saved = TypingModel.load(run), TypingModel.from_pretrained(tmp_path / "model")
    asked = "Yesterday [Alva] sang until midnight."
    assert ours.types_of(asked, top=5) == saved.types_of(asked, top=5)
    assert "hybonet.load" in (tmp_path / "model" / "README.md").read_text()
    with pytest.raises(ValueError, match="holds a model saved for use, without the state of its training"):
        Run(tmp_path / "model").change_settings([])


def test_exported_points_are_the_models(run, tmp_path):
    command("export", run, "--to", "vectors", "--output", tmp_path / "types.tsv")
    rows = [line.split("\t") for line in (tmp_path / "types.tsv").read_text().splitlines()]
    model = TypingModel.load(run)
    assert rows[0][:3] == ["label", "name", "x0"]
    found = torch.tensor([[float(cell) for cell in row[2:]] for row in rows[1:]])
    assert torch.equal(found, model.type_points())
    assert model.model.manifold.check_point(found)


def test_the_command_to_ask_with_works_where_sentences_have_brackets():
    run = Path("runs/town")
    odd = Mention(("See", "[1]"), ("the", "mill"), (".",))
    assert question(run, [odd, Mention((), ("[sic]",), ()), Mention(("The",), ("mill",), ("'s", "wheel"))]) == (
        "--sentence " + shlex.quote("The [mill] 's wheel")
    )
    assert question(run, [odd]) == f"--mentions {run}/mentions_valid.jsonl"


def test_plot_draws_types_and_curves(run, tmp_path):
    drawn = command("plot", run, "--output", tmp_path).splitlines()
    assert [line.rsplit("/", 1)[1] for line in drawn] == ["curves.png", "reliability.png", "disk.png", "radii.png"]
    assert all((tmp_path / name).stat().st_size > 5000 for name in ("disk.png", "radii.png"))


@pytest.mark.parametrize(
    ("name", "model"),
    [
        *((each.name, "hybonet") for each in recipes().values() if each.task == "typing"),
        *(("typing", model) for model in ("hybonet-tangent", "MultiTask", "LabelGCN", "HY")),
    ],
)
def test_every_recipe_and_every_model_trains(name, model, town, tmp_path):
    small = replace(town, train=town.train[:40], valid=town.valid[:10])
    changes = ["epochs=2", "validate_every=2", "batch_size=20", f"model={model}", "dim=16", "context_words=8"]
    changes += ["feedforward=16"] if model.startswith("hybonet") else []
    result = Trainer(EntityTypingTask(override(recipe(name).settings, changes), small), tmp_path).fit()
    assert all(parameter.isfinite().all() for parameter in result.model.parameters())
    assert result.history[1]["loss"] < result.history[0]["loss"]


def test_a_search_finds_settings_without_the_test_mentions(tmp_path):
    changes = [word for change in (*QUICK, "epochs=1", "validate_every=1") for word in ("--set", change)]
    out = command(
        "tune", "typing", "--range", "lr=0.001,0.02", *changes, "--trials", 2, "--threads", 1, "--out", tmp_path
    )
    assert "f1" in out
    assert json.loads((tmp_path / "best.json").read_text())["lr"] in (0.001, 0.02)


def test_the_papers_settings():
    settings = recipe("paper-typing").settings
    assert (settings.dim, settings.feedforward, settings.layers, settings.batch_size) == (128, 512, 2, 900)
    assert (settings.attention_dropout, settings.merge_dropout, settings.lr) == (0.2, 0.1, 1e-3)
    assert (settings.epochs, settings.max_grad_norm, settings.dropout) == (60, 0.2, 0.0)
    assert (settings.context_words, settings.mention_words, settings.optimizer) == (25, 5, "riemannian")


def test_the_prior_is_how_frequent_types_are(town):
    task = EntityTypingTask(override(TypingSettings(), list(QUICK)), town)
    model, batch = task.build_model().eval(), task.encoded["train"].rows(slice(256))
    logits = model(batch.mention, batch.context, batch.place).mean(0)
    frequency = task.targets["train"].to_dense().mean(0)
    assert torch.allclose(torch.sigmoid(logits), frequency, atol=0.005)
