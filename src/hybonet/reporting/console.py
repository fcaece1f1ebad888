"""What reaches a terminal: text without the control characters that a name in somebody's data may hold."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from rich import console
from rich.segment import Segment

#: All but line breaks and tabs: C0, DEL and C1, and what turns the direction of writing.
_CONTROL = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069]")
_IN_ITS_PLACE = "\N{REPLACEMENT CHARACTER}"


def cleaned(text: str) -> str:
    """Text that cannot move the cursor, change colours or the window's title."""
    return _CONTROL.sub(_IN_ITS_PLACE, text)


class Console(console.Console):
    """rich's console, for text of any origin."""

    def render(self, renderable: Any, options: console.ConsoleOptions | None = None) -> Iterable[Segment]:
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else cleaned(text), style, control)
