"""The results pages say what the records say."""

import importlib
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
