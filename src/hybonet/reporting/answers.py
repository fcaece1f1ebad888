"""What a trained model answers: records for programs, tables for people, in a terminal and in a notebook."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, overload

from hybonet.files import flat

#: Makes what the terminal prints; called when somebody looks.
Tables = Callable[[], Iterable[Any]]


class _Shown:
    """Something that prints as tables, and becomes a data frame by its ``columns`` and ``rows()``."""

    _tables: Tables
    columns: Sequence[str]

    def rows(self) -> list[dict[str, Any]]:
        """A mapping by the columns for each row."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """A pandas data frame."""
        return data_frame(self.rows(), self.columns)

    def tables(self) -> list[Any]:
        """What the library rich prints."""
        return list(self._tables())

    def _console(self) -> Any:
        from hybonet.reporting.console import Console

        # In a notebook, rich would show by itself what is only to be written here.
        console = Console(file=io.StringIO(), record=True, width=120, highlight=False, force_jupyter=False)
        for table in self.tables():
            console.print(table)
        return console

    def __str__(self) -> str:
        text: str = self._console().file.getvalue()
        return text.rstrip("\n")

    def _repr_html_(self) -> str:
        html: str = self._console().export_html(inline_styles=True, code_format="<pre>{code}</pre>")
        return html


def data_frame(rows: Any, columns: Sequence[str]) -> Any:
    """A pandas data frame, if pandas is there."""
    try:
        import pandas
    except ImportError:
        raise ImportError("to_pandas needs pandas: pip install pandas; the values themselves need nothing") from None
    return pandas.DataFrame(rows, columns=list(columns))


class Answers(_Shown, Sequence[dict[str, Any]]):
    """Answers as a list of records, which prints as tables.

    Args:
        records: an answer each, with the same keys.
        tables: what people see; a plain table of the records if it is not given.
        columns: the keys, for a header even where there is no record.
        nested: what JSON says, if that is more than the records.
        text: plain lines, for tasks whose answer is text.
        notes: what is odd about the question.

    Example:
        >>> answers = Answers([{"name": "dog", "probability": 0.75}])
        >>> answers[0]["name"], len(answers)
        ('dog', 1)
        >>> print(answers)
        ┏━━━━━━┳━━━━━━━━━━━━━┓
        ┃ name ┃ probability ┃
        ┡━━━━━━╇━━━━━━━━━━━━━┩
        │ dog  │ 0.75        │
        └──────┴─────────────┘
    """

    def __init__(
        self,
        records: Iterable[Mapping[str, Any]],
        *,
        tables: Tables | None = None,
        columns: Sequence[str] = (),
        nested: Any = None,
        text: str | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        self.records = [dict(record) for record in records]
        self.columns = list(columns or (self.records[0] if self.records else ()))
        self.text, self.notes = text, notes
        self._nested = nested
        self._tables = tables or self._plain

    @overload
    def __getitem__(self, place: int) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, place: slice) -> list[dict[str, Any]]: ...

    def __getitem__(self, place: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        return self.records[place]

    def __len__(self) -> int:
        return len(self.records)

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, Sequence) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Answers({self.records!r})"

    def rows(self) -> list[dict[str, Any]]:
        return self.records

    def as_json(self) -> Any:
        """What ``--json`` writes."""
        return self.records if self._nested is None else self._nested

    def _plain(self) -> Iterable[Any]:
        from rich.table import Table
        from rich.text import Text

        table = Table(*self.columns)
        for record in self.records:
            table.add_row(*(Text(_cell(record.get(column))) for column in self.columns))
        yield table


class Measures(_Shown, dict[str, Any]):
    """Figures by name, nested by part, which print as tables.

    Example:
        >>> measured = Measures({"test": {"mrr": 0.5}})
        >>> measured["test"]["mrr"]
        0.5
        >>> print(measured)
        ┏━━━━━━━━━━┳━━━━━━━┓
        ┃ measure  ┃ value ┃
        ┡━━━━━━━━━━╇━━━━━━━┩
        │ test mrr │ 0.5   │
        └──────────┴───────┘
    """

    columns = ("measure", "value")

    def __init__(self, figures: Mapping[str, Any], *, tables: Tables | None = None) -> None:
        super().__init__(figures)
        self._tables = tables or self._plain

    def as_json(self) -> Any:
        """What ``--json`` writes."""
        return dict(self)

    def rows(self) -> list[dict[str, Any]]:
        """A figure each, with the path to it as its name."""
        return [{"measure": name, "value": value} for name, value in flat(self, " ")]

    def _plain(self) -> Iterable[Any]:
        return Answers(self.rows()).tables()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
