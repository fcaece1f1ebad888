"""Every mistake of the table gets its message and exit code 2, and leaves the disk as it was."""

import importlib.util
from pathlib import Path

import pytest

from tests.cli.bad_inputs import GROUPS, NOTED
from tests.cli.staging import BadInput, make_template, run, show

CASES = [case for cases in GROUPS.values() for case in cases]
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template")
    make_template(folder)
    return folder


def named(case: BadInput) -> str:
    return case.problem


@pytest.mark.parametrize("case", CASES, ids=named)
def test_a_mistake_gets_its_message_and_leaves_nothing(case: BadInput, template: Path, tmp_path: Path) -> None:
    if case.cannot:
        pytest.skip(case.cannot)
    outcome = show(case, template, tmp_path / "case")
    assert outcome.code == 2, outcome.output
    for fragment in case.expected:
        assert fragment in outcome.message
    assert "Traceback" not in outcome.output
    assert "[Errno" not in outcome.output
    assert outcome.changed == []


@pytest.mark.parametrize("case", NOTED, ids=named)
def test_what_is_odd_gets_a_note(case: BadInput, template: Path, tmp_path: Path) -> None:
    quick = "--set epochs=1 --set dim=4 --threads 1"
    case = BadInput(case.problem, f"{case.command} {quick}", case.expected, case.prepare)
    outcome = show(case, template, tmp_path / "case")
    assert outcome.code == 0, outcome.output
    for fragment in case.expected:
        assert fragment in outcome.message


def test_the_cases_are_told_apart_and_the_template_makes_no_mistake(template: Path) -> None:
    assert len(CASES) >= 45
    assert len({case.problem for case in CASES}) == len(CASES)
    assert run("evaluate run", template).code == 0
    assert run("predict run --head n1 --relation next", template).code == 0


def test_the_table_in_the_docs_is_that_of_the_cases() -> None:
    spec = importlib.util.spec_from_file_location("bad_input_table", ROOT / "scripts/bad_input_table.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    text = (ROOT / "docs/bad-input.md").read_text()
    missing = [case.problem for case in CASES if not case.cannot and f"| {script.cell(case.problem)} |" not in text]
    assert missing == []
