"""What reaches a terminal: text without the control characters that a name in somebody's data may hold."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

from rich import console
from rich.segment import Segment
from rich.table import Table

#: All but line breaks and tabs: C0, DEL and C1, and what turns the direction of writing.
_CONTROL = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069]")
_IN_ITS_PLACE = "\N{REPLACEMENT CHARACTER}"


def cleaned(text: str) -> str:
    """Text that cannot move the cursor, change colours or the window's title."""
    return _CONTROL.sub(_IN_ITS_PLACE, text)


class Console(console.Console):
    """rich's console, for text of any origin: cells are wrapped, not cut, and a pipe or a file has no width at all."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        if not (self.is_terminal or "width" in options or "COLUMNS" in os.environ):
            self.width = 10_000

    def render(self, renderable: Any, options: console.ConsoleOptions | None = None) -> Iterable[Segment]:
        if isinstance(renderable, Table):
            most = options or self.options
            fits = renderable.__rich_measure__(self, most).minimum <= most.max_width
            for column in renderable.columns:  # or an ellipsis stands for what was cut
                column.no_wrap = column.no_wrap and fits
                column.overflow = column.overflow if column.no_wrap else "fold"
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else cleaned(text), style, control)
