"""Names from data cannot steer a terminal, nor a spreadsheet."""

import io

import pytest
from rich.table import Table
from rich.text import Text

from hybonet.cli import answers, options
from hybonet.files import without_formula
from hybonet.reporting.answers import Answers
from hybonet.reporting.console import Console

NAME = "dog\x1b]0;mine\x07\x9b31m\u202e"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_tables_and_text_have_no_control_characters_of_names() -> None:
    console = Console(file=Terminal(), force_terminal=True, highlight=False)
    table = Table(NAME)
    table.add_row(NAME)
    table.add_row(Text(NAME, style="bold red"))
    console.print(table, NAME, Text(NAME), end="")
    said = console.file.getvalue()  # type: ignore[attr-defined]
    assert said.count("dog") == 5
    assert not any(sign in said for sign in ("\x1b]", "\x07", "\x9b", "\u202e"))
    assert "\x1b[1;31m" in said  # our own colours are left


def test_messages_are_cleaned_and_pipes_get_all(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    options.say(NAME)
    options.tell_notes([NAME])
    heard = capsys.readouterr()
    assert heard.out == NAME + "\n"
    assert "\x1b" not in heard.err
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    options.say(NAME)
    assert "\x1b" not in terminal.getvalue()


def test_safe_csv_puts_a_mark_before_formulas_only(tmp_path) -> None:
    found = Answers(
        [{"name": "=cmd|'/C calc'!A0", "value": -0.5}, {"name": " +1", "value": 2}, {"name": "dog", "value": 3}]
    )
    answers.write(found, "csv", tmp_path / "plain.csv", quiet=True)
    answers.write(found, "csv", tmp_path / "safe.csv", quiet=True, safe_csv=True)
    assert (tmp_path / "plain.csv").read_text().splitlines()[1].startswith("=cmd")
    assert (tmp_path / "safe.csv").read_text().splitlines()[1:] == ["'=cmd|'/C calc'!A0,-0.5", "' +1,2", "dog,3"]
    assert [without_formula(each) for each in ("@a", "\tb", "c-d", 1, None)] == ["'@a", "'\tb", "c-d", 1, None]
