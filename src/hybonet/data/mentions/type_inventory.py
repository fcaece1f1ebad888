"""The types that entities may have, each at a level of detail if the inventory has levels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from hybonet.data.io.source_file import SourceFile
from hybonet.data.io.text_table import decode
from hybonet.data.vocabulary import Vocabulary

#: The only level of an inventory that has none.
ONE_LEVEL = "all"
#: Names that stand beside those of levels in measures, so no level has them.
_RESERVED = ("total", "threshold", "split")


@dataclass(frozen=True)
class TypeInventory:
    """Types by number, and the level of each: coarse, fine, … or whatever the inventory calls them.

    Args:
        types: names, unique.
        level_of: the level of each type, in the same order; none: all types are on one level.

    Example:
        >>> inventory = TypeInventory(("person", "artist", "poet"), ("coarse", "fine", "fine"))
        >>> inventory.levels, inventory.level_numbers.tolist()
        (('coarse', 'fine'), [0, 1, 1])
        >>> inventory.find("artists")
        Traceback (most recent call last):
        ValueError: expected one of 3 types, got 'artists'; did you mean 'artist'?
    """

    types: tuple[str, ...]
    level_of: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.types:
            raise ValueError("expected at least one type, got none; name some")
        if self.level_of and len(self.level_of) != len(self.types):
            raise ValueError(f"expected a level for each of {len(self.types)} types, got {len(self.level_of)}")

    def __len__(self) -> int:
        return len(self.types)

    def __getitem__(self, number: int) -> str:
        return self.types[number]

    @cached_property
    def levels(self) -> tuple[str, ...]:
        """The levels in the order of their first type."""
        return tuple(dict.fromkeys(self.level_of)) or (ONE_LEVEL,)

    @cached_property
    def level_numbers(self) -> Tensor:
        """The number of each type's level, ``(types,)``."""
        place = {level: number for number, level in enumerate(self.levels)}
        return torch.tensor([place[level] for level in self.level_of] or [0] * len(self), dtype=torch.long)

    def level(self, number: int) -> str:
        return self.level_of[number] if self.level_of else ONE_LEVEL

    def find(self, name: str) -> int:
        """The number of a type; an unknown name is an error that suggests a near one."""
        return self._numbers[name] if name in self._numbers else Vocabulary(self.types, kind="type").find(name)

    def __contains__(self, name: object) -> bool:
        return name in self._numbers

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.types)}

    @classmethod
    def of(cls, names: Iterable[str]) -> TypeInventory:
        """An inventory without levels of the types that occur, in alphabetical order."""
        return cls(tuple(sorted(set(names))))

    def with_levels(self, sizes: Sequence[tuple[str, int | None]]) -> TypeInventory:
        """The same types with levels by place: so many first ones on the first level, and so on; None: all the rest."""
        level_of: list[str] = []
        for level, size in sizes:
            level_of += [level] * (len(self) - len(level_of) if size is None else size)
        return TypeInventory(self.types, tuple(level_of))


def read_inventory(file: SourceFile) -> TypeInventory:
    """Types of a text file: a type per line, or a type, a tab and its level.

    Example:
        >>> read_inventory(SourceFile("types.tsv", "types.tsv", b"person\\tcoarse\\npoet\\tfine\\n")).levels
        ('coarse', 'fine')
    """
    rows: dict[str, str | None] = {}
    for number, line in enumerate(decode(file.content, file.source).split("\n"), 1):
        cells = [cell.strip() for cell in line.split("\t")]
        if cells == [""]:
            continue
        where = f"{file.source}, line {number}"
        if len(cells) > 2 or not all(cells):
            raise ValueError(
                f"{where}: expected a type, or a type, a tab and its level, got {line.strip()!r:.60}; correct it"
            )
        name, level = cells[0], cells[1] if len(cells) == 2 else None
        if name in rows:
            raise ValueError(f"{where}: expected each type once, got {name!r} again; remove the line")
        if rows and (level is None) != (next(iter(rows.values())) is None):
            raise ValueError(f"{where}: expected a level for every type or for none, got {line.strip()!r}; correct it")
        if level in _RESERVED:
            raise ValueError(
                f"{where}: expected the name of a level, got {level!r}, which measures use for something else; "
                "rename the level"
            )
        rows[name] = level
    if not rows:
        raise ValueError(f"{file.source}: expected a type per line, got an empty file; add some")
    levels = tuple(level for level in rows.values() if level is not None)
    return TypeInventory(tuple(rows), levels)
