"""The results pages say what the records say."""

import importlib
import json
import re
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parent.parent / "scripts"


@pytest.mark.parametrize(
    "name", ["results_page", "graph_results", "probe_results", "translation_results", "typing_results"]
)
def test_the_page_is_made_from_the_records(name, monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    module = importlib.import_module(name)
    assert module.PAGE.read_text(encoding="utf-8") == module.page(), f"run python scripts/{name}.py"


def test_stored_records_hold_neither_sentences_nor_places_of_a_machine():
    records = sorted((SCRIPTS.parent / "docs/results/records").rglob("*.json"))
    assert records
    for record in records:
        text = record.read_text(encoding="utf-8")
        assert '"examples"' not in text, record
        assert re.search(r': "(/|[A-Z]:\\\\)', text) is None, record


def test_a_record_is_stored_without_the_sentences_it_quotes(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    store = importlib.import_module("reproduce").store
    record, target = tmp_path / "record.json", tmp_path / "stored.json"
    measured = {"bleu": 1.5, "examples": [{"source": "ein Haus"}]}
    record.write_text(json.dumps({"seed": 3, "test2017": measured, "encoder": {"test": measured}}))
    store(record, target)
    assert json.loads(target.read_text()) == {"seed": 3, "test2017": {"bleu": 1.5}, "encoder": {"test": {"bleu": 1.5}}}
