"""Commands on a finished run do what its task does with it."""

from pathlib import Path

import pytest

from hybonet.cli import verbs
from hybonet.tasks.hierarchy import SPEC
from tests.cli.staging import make_template, run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("verbs")
    make_template(folder)
    return folder


def test_help_without_a_run_names_every_task_that_has_the_command(folder: Path) -> None:
    outcome = run("plot --help", folder)
    assert outcome.code == 0
    for task in verbs.plot.tasks():
        assert f"hybonet plot {task} --help" in outcome.output
    headings = [spec.title for spec in verbs.plot.tasks().values()]
    assert [title for title in headings if f"{title} (hybonet plot" in outcome.output] == headings


@pytest.mark.parametrize("words", ["predict run --help", "predict kg --help"])
def test_help_of_a_run_or_a_task_shows_its_options(words: str, folder: Path) -> None:
    outcome = run(words, folder)
    assert outcome.code == 0
    assert "--relation" in outcome.output


def test_a_task_without_the_command_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "tree").mkdir()
    (folder / "tree" / "config.json").write_text('{"task": "hierarchy", "hierarchy": {}}')
    monkeypatch.setitem(SPEC.verbs, "predict", None)
    outcome = run("predict tree", folder)
    assert outcome.code == 2
    assert "expected a model that can be asked to predict, got one of hierarchies" in outcome.message
    assert "what works on it: evaluate, plot, export" in outcome.message


def test_options_may_come_before_the_run(folder: Path) -> None:
    assert (
        run("evaluate --split valid --json run", folder).output
        == run("evaluate run --split valid --json", folder).output
    )


def test_no_run_at_all_is_an_error(folder: Path) -> None:
    assert run("predict", folder).code == 2
    assert "hybonet predict RUN" in run("predict --new", folder).message
