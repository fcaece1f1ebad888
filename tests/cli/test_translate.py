"""``hybonet translate`` and what the other commands do with translation runs."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hybonet import TranslationModel
from hybonet.cli import app
from tests.cli.staging import Outcome, run
from tests.cli.translation_mistakes import trained


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    trained(tmp_path)
    (tmp_path / "a.txt").write_text(f"sentence number 3\n\n{'sentence number ' * 9}\nnumber 4\n")
    return tmp_path


def did(command: str, folder: Path) -> Outcome:
    outcome = run(command, folder)
    assert outcome.code == 0, outcome.output
    return outcome


def test_lines_stay_lines_and_what_is_odd_is_told(folder: Path) -> None:
    outcome = did("translate mt a.txt --output out.txt", folder)
    assert len((folder / "out.txt").read_text().split("\n")) == 5
    assert (folder / "out.txt").read_text().split("\n")[1] == ""
    assert "note: 1 empty line stays empty" in outcome.message
    assert "note: 1 of 4 sentences (line 3) have more than the model's 8 tokens" in outcome.message
    assert outcome.changed == ["out.txt"]


def test_what_the_model_does_not_know_is_told(folder: Path) -> None:
    (folder / "b.txt").write_text("sentence number 3\nsentence 雪\n")
    assert "note: 1 of 2 sentences (line 2) have words or characters" in did("translate mt b.txt", folder).message
    assert "has not learned" not in did("translate mt a.txt", folder).message


def test_too_long_a_sentence_gives_a_warning_in_python(folder: Path) -> None:
    model = TranslationModel.load(folder / "mt")
    with pytest.warns(UserWarning, match="1 of 2 sentences have more than the model's 8 tokens"):
        assert len(model.translate(["number 4", "sentence number " * 9])) == 2


def test_a_pipe_gives_what_a_file_does(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    did("translate mt a.txt --output out.txt", folder)
    monkeypatch.chdir(folder)
    piped = CliRunner().invoke(app, ["translate", "mt"], input=(folder / "a.txt").read_text())
    assert piped.stdout == (folder / "out.txt").read_text()


def test_translate_is_short_for_predict(folder: Path) -> None:
    assert did("predict mt a.txt", folder).output == did("translate mt a.txt", folder).output
    for ending in ("txt", "tsv", "json"):
        did(f"predict mt a.txt --output long.{ending}", folder)
        form = "text" if ending == "txt" else ending
        did(f"translate mt a.txt --format {form} --output short.{ending}", folder)
        assert (folder / f"long.{ending}").read_text() == (folder / f"short.{ending}").read_text()


def test_blank_lines_alone_stay_blank(folder: Path) -> None:
    (folder / "blank.txt").write_text("\n\n")
    assert "note: 2 empty lines stay empty" in did("translate mt blank.txt --output out.txt", folder).message
    assert (folder / "out.txt").read_text() == "\n\n"


def test_several_translations_with_scores(folder: Path) -> None:
    did("translate mt a.txt --n-best 2 --format tsv --output out.tsv", folder)
    header, *rows = [line.split("\t") for line in (folder / "out.tsv").read_text().splitlines()]
    assert header == ["line", "score", "translation"]
    assert [row[0] for row in rows] == ["1", "1", "2", "3", "3", "4", "4"]
    assert float(rows[0][1]) >= float(rows[1][1])
    did("translate mt a.txt --n-best 2 --format json --output out.json", folder)
    objects = json.loads((folder / "out.json").read_text())
    assert [each["text"] for each in objects[0]["translations"]] == [row[2] for row in rows[:2]]
    assert [each["cut"] for each in objects] == [False, False, True, False]


def test_evaluate_gives_the_record_and_other_beams(folder: Path) -> None:
    record = json.loads((folder / "mt/record.json").read_text())
    found = json.loads(did("evaluate mt --json", folder).output)
    assert {key: found[key] for key in ("bleu", "chrf", "tokenized_bleu", "perplexity")} == {
        key: pytest.approx(record["test"][key]) for key in ("bleu", "chrf", "tokenized_bleu", "perplexity")
    }
    assert "nrefs:1|case:mixed" in did("evaluate mt --split valid --beam 1", folder).output


def test_pictures_and_export(folder: Path) -> None:
    pytest.importorskip("matplotlib")
    drawn = did("plot mt --output pictures", folder)
    assert drawn.changed == ["pictures/attention.png", "pictures/curves.png"]
    did("export mt --output model", folder)
    assert did("translate model a.txt", folder).output == did("translate mt a.txt", folder).output
