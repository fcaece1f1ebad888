"""The results page of entity typing says what the records say."""

import importlib.util
from pathlib import Path

SCRIPT = Path(__file__).parent.parent / "scripts/typing_results.py"


def test_the_page_is_made_from_the_records():
    spec = importlib.util.spec_from_file_location("typing_results", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.PAGE.read_text(encoding="utf-8") == module.page(), "run python scripts/typing_results.py"
