"""The results page says what the records say."""

import importlib.util
from pathlib import Path

SCRIPT = Path(__file__).parent.parent / "scripts/results_page.py"


def test_the_page_is_made_from_the_records(monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    spec = importlib.util.spec_from_file_location("results_page", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.PAGE.read_text(encoding="utf-8") == module.page(), "run python scripts/results_page.py"
