"""Labels numbered from 0, with names to show, and lookups that suggest what was meant."""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

_SHOWN = 5


@dataclass(frozen=True, repr=False)
class Vocabulary:
    """The entities or the relations of a graph: a label's number is its place.

    Args:
        labels: unique identifiers, as in the data.
        names: what people call them, in the same order; the labels themselves by default. Names may repeat.
        descriptions: what tells same-named ones apart; may be empty.
        kind: what the labels stand for, in messages.

    Example:
        >>> places = Vocabulary(("Q90", "Q142", "Q830149"), ("Paris", "France", "Paris"), ("capital", "", "in Texas"))
        >>> places.find("France"), places.find("Q90"), places.name(2)
        (1, 0, 'Paris')
        >>> places.find("Paris")
        Traceback (most recent call last):
        ValueError: several entities are called 'Paris': Q90 (capital), Q830149 (in Texas); use one of these labels
        >>> places.find("Frence")
        Traceback (most recent call last):
        ValueError: expected one of 3 entities, got 'Frence'; did you mean 'France'?
    """

    labels: tuple[str, ...]
    names: tuple[str, ...] = ()
    descriptions: tuple[str, ...] = ()
    kind: str = "entity"

    def __post_init__(self) -> None:
        for field in ("names", "descriptions"):
            given = getattr(self, field)
            if given and len(given) != len(self.labels):
                raise ValueError(
                    f"expected {len(self.labels)} {field}, one a label, got {len(given)}; give them in the same order"
                )
        if len(self._numbers) != len(self.labels):
            twice = next(label for at, label in enumerate(self.labels) if self._numbers[label] != at)
            raise ValueError(f"expected unique labels, got {twice!r} twice; keep one")

    def __repr__(self) -> str:
        return f"Vocabulary({len(self):,} {self.plural})"

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, number: int) -> str:
        return self.labels[number]

    def __iter__(self) -> Iterator[str]:
        return iter(self.labels)

    def __contains__(self, label: object) -> bool:
        return label in self._numbers

    def name(self, number: int) -> str:
        """What people call it."""
        return self.names[number] if self.names else self.labels[number]

    def description(self, number: int) -> str:
        """What tells it apart from others of its name; empty where unknown."""
        return self.descriptions[number] if self.descriptions else ""

    def find(self, text: str) -> int:
        """Number of the label or, if there is none, of the only one of that name, capitals or not."""
        text = text.strip()
        if text in self._numbers:
            return self._numbers[text]
        found = self._by_name.get(text) or self._by_folded_name.get(_fold(text), [])
        if len(found) == 1:
            return found[0]
        raise self._ambiguous(text, found) if found else self._unknown(text)

    @property
    def plural(self) -> str:
        """The kind in the plural: entities, relations."""
        return f"{self.kind[:-1]}ies" if self.kind.endswith("y") else f"{self.kind}s"

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {label: number for number, label in enumerate(self.labels)}

    @cached_property
    def _by_name(self) -> dict[str, list[int]]:
        numbers: dict[str, list[int]] = defaultdict(list)
        for number, name in enumerate(self.names or self.labels):
            numbers[name].append(number)
        return numbers

    @cached_property
    def _by_folded_name(self) -> dict[str, list[int]]:
        numbers: dict[str, list[int]] = defaultdict(list)
        for name, found in self._by_name.items():
            numbers[_fold(name)] += found
        return numbers

    def _ambiguous(self, text: str, found: list[int]) -> ValueError:
        shown = [self._described(number) for number in found[:_SHOWN]]
        if len(found) > _SHOWN:
            shown.append(f"and {len(found) - _SHOWN} more")
        return ValueError(f"several {self.plural} are called {text!r}: {', '.join(shown)}; use one of these labels")

    def _described(self, number: int) -> str:
        description = self.description(number)
        short = description if len(description) <= 60 else description[:59] + "…"
        return f"{self.labels[number]} ({short})" if short else self.labels[number]

    def _unknown(self, text: str) -> ValueError:
        folded = self._by_folded_name
        near = [self.name(folded[match][0]) for match in difflib.get_close_matches(_fold(text), folded, n=3)]
        near += [match for match in difflib.get_close_matches(text, self.labels, n=3) if match not in near]
        if near:
            hint = f"did you mean {' or '.join(repr(match) for match in near[:3])}?"
        else:
            hint = f"labels look like {', '.join(repr(label) for label in self.labels[:3])}"
        return ValueError(f"expected one of {len(self):,} {self.plural}, got {text!r}; {hint}")


def _fold(text: str) -> str:
    return text.replace("_", " ").casefold()
