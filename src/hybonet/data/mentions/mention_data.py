"""Mentions of entities in sentences, with their types: the rows of a JSON-lines file, checked and trimmed."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from hybonet.data.io.cell_grid import SHOWN, several_mistakes
from hybonet.data.io.source_file import SourceFile
from hybonet.data.io.text_table import decode
from hybonet.data.mentions.type_inventory import TypeInventory
from hybonet.data.mentions.word_vectors import PADDING, WordVectors
from hybonet.files import parse_json

#: The keys of a row, as the Open Entity data has them.
LEFT, SPAN, RIGHT, TYPES = "left_context_token", "mention_span", "right_context_token", "y_str"
SPLITS = ("train", "valid", "test")
MENTION_WORDS, CONTEXT_WORDS = 5, 25


@dataclass(frozen=True)
class Mention:
    """Words of a mention, of what stands left and right of it, and its types.

    Example:
        >>> Mention(("Yesterday",), ("Ada", "Lovelace"), ("wrote", "."), ("person", "mathematician")).sentence
        'Yesterday [Ada Lovelace] wrote .'
    """

    left: tuple[str, ...]
    words: tuple[str, ...]
    right: tuple[str, ...]
    types: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The sentence with the mention in brackets."""
        return " ".join((*self.left, f"[{' '.join(self.words)}]", *self.right))

    def trimmed(self, mention: int = MENTION_WORDS, context: int = CONTEXT_WORDS) -> tuple[Mention, Mention]:
        """The mention alone, and the mention in its context, each cut to so many words.

        From the sentence one word at a time is taken away at the longer side, so that the mention stays in the middle;
        a mention (or a sentence that is nothing but its mention) loses its last words.

        Example:
            >>> long = Mention(tuple("abcdef"), ("M",), tuple("uvw"))
            >>> long.trimmed(context=6)[1].sentence
            'd e f [M] u v'
        """
        left, right = list(self.left), list(self.right)
        words = self.words[:context]
        while len(left) + len(words) + len(right) > context:
            if len(left) > len(right):
                left.pop(0)
            else:
                right.pop()
        return Mention((), self.words[:mention], ()), Mention(tuple(left), words, tuple(right))


@dataclass(frozen=True)
class MentionBatch:
    """Mentions as numbers: ``mention (N, M)`` and ``context (N, C)`` are word rows, 0 where there is none.

    ``place (N, C)`` says how far a word of the context is from the mention: 0 inside, -1 directly to its left.
    """

    mention: Tensor
    context: Tensor
    place: Tensor

    def __len__(self) -> int:
        return len(self.mention)

    def rows(self, chosen: Tensor | slice) -> MentionBatch:
        return MentionBatch(self.mention[chosen], self.context[chosen], self.place[chosen])

    def to(self, device: str) -> MentionBatch:
        return MentionBatch(self.mention.to(device), self.context.to(device), self.place.to(device))


def encode(
    mentions: Sequence[Mention], vectors: WordVectors, mention: int = MENTION_WORDS, context: int = CONTEXT_WORDS
) -> MentionBatch:
    """Trim mentions and number their words."""
    spans = torch.full((len(mentions), mention), PADDING)
    words, place = torch.full((len(mentions), context), PADDING), torch.zeros(len(mentions), context, dtype=torch.long)
    for row, each in enumerate(mentions):
        span, whole = each.trimmed(mention, context)
        spans[row, : len(span.words)] = torch.tensor([vectors.number(word) for word in span.words])
        inside, before = len(whole.words), len(whole.left)
        numbers = [vectors.number(word) for word in (*whole.left, *whole.words, *whole.right)]
        words[row, : len(numbers)] = torch.tensor(numbers)
        places = [*range(-before, 0), *[0] * inside, *range(1, len(whole.right) + 1)]
        place[row, : len(places)] = torch.tensor(places)
    return MentionBatch(spans, words, place)


@dataclass(frozen=True, repr=False)
class MentionData:
    """Mentions in three splits, the inventory of their types and the vectors of their words."""

    types: TypeInventory
    vectors: WordVectors
    train: tuple[Mention, ...]
    valid: tuple[Mention, ...] = ()
    test: tuple[Mention, ...] = ()
    source: str = "mentions"
    #: Checksums of the files.
    sha256: Mapping[str, str] | None = None
    #: What people should know.
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        sizes = " / ".join(str(len(self.split(name))) for name in SPLITS)
        return f"MentionData({self.source!r}: {sizes} mentions, {len(self.types):,} types)"

    def statistics(self) -> dict[str, int]:
        """Counts for reports and checks."""
        return {"types": len(self.types), **{name: len(self.split(name)) for name in SPLITS}}

    def split(self, name: str) -> tuple[Mention, ...]:
        return {"train": self.train, "valid": self.valid, "test": self.test}[name]

    def without_test(self) -> MentionData:
        """What a search may know."""
        return replace(self, test=())

    def targets(self, name: str) -> Tensor:
        """The types of a split's mentions as 0 and 1, ``(mentions, types)``, sparse."""
        rows, columns = [], []
        for row, mention in enumerate(self.split(name)):
            rows += [row] * len(mention.types)
            columns += [self.types.find(label) for label in mention.types]
        indices = torch.tensor([rows, columns], dtype=torch.long)
        shape = (len(self.split(name)), len(self.types))
        return torch.sparse_coo_tensor(indices, torch.ones(len(rows)), shape, check_invariants=True).coalesce()


def read_mentions(file: SourceFile, types: TypeInventory | None = None, *, labelled: bool = True) -> list[Mention]:
    """The mentions of a file of JSON lines, or of one JSON array, every row checked; errors name the lines.

    Args:
        types: the inventory that types must be of; any type is right without.
    """
    text = decode(file.content, file.source)
    if text.lstrip().startswith("["):
        try:
            return checked_mentions(
                file.source, enumerate(parse_json(text), 1), types, labelled=labelled, row_is="entry"
            )
        except json.JSONDecodeError as error:
            raise ValueError(
                f"{file.source}, line {error.lineno}: expected a JSON array of mentions, got malformed JSON "
                f"({error.msg}, column {error.colno}); correct it"
            ) from None
    lines = ((number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip())
    return checked_mentions(file.source, lines, types, labelled=labelled)


def checked_mentions(
    source: str,
    rows: Iterable[tuple[int, Any]],
    types: TypeInventory | None = None,
    *,
    labelled: bool = True,
    row_is: str = "line",
) -> list[Mention]:
    """Mentions of numbered rows: mentions, mappings with the usual keys, or lines of JSON; errors name the rows."""
    mentions: list[Mention] = []
    shown: list[tuple[str, str]] = []
    bad = 0
    for number, row in rows:
        try:
            mention = row if isinstance(row, Mention) else _mention(row, labelled)
            if types is not None:
                # What is near to an unknown type takes long to find: only where it is shown.
                _check_types(mention, types, explain=len(shown) < SHOWN)
            mentions.append(mention)
        except ValueError as error:
            bad += 1
            if len(shown) < SHOWN:
                shown.append((f"{source}, {row_is} {number}", str(error)))
    if bad == 1:
        raise ValueError(": ".join(shown[0]))
    if bad:
        rows_are = f"{bad:,} of {bad + len(mentions):,} rows are not mentions as expected"
        raise several_mistakes(source, f"{rows_are}; correct or remove them, nothing was loaded", shown, bad)
    if not mentions:
        raise ValueError(f"{source}: expected a mention per {row_is}, got none; add some")
    return mentions


def _mention(row: Any, labelled: bool) -> Mention:
    line = row
    if isinstance(line, str):
        try:
            row = parse_json(line)
        except json.JSONDecodeError as error:
            raise ValueError(
                f"expected a JSON object per line, got {line.strip()!r:.40} ({error.msg}, column {error.colno}); "
                "correct it"
            ) from None
    if not isinstance(row, Mapping):
        raise ValueError(f"expected a JSON object per line, got {str(line).strip()!r:.40}; correct it")
    for key in (LEFT, SPAN, RIGHT, *([TYPES] if labelled else [])):
        if key not in row:
            near = difflib.get_close_matches(key, row, n=1)
            hint = f"rename {near[0]!r}" if near else f"add it (rows have {LEFT}, {SPAN}, {RIGHT} and {TYPES})"
            raise ValueError(f"expected a key {key!r}, got {', '.join(map(repr, row)) or 'none'}; {hint}")
    span = row[SPAN]
    if not isinstance(span, str) or not span.split():
        raise ValueError(
            f"expected the words of the mention as text in {SPAN}, got {span!r:.40}; write e.g. 'the king'"
        )
    labels = _texts(row, TYPES) if TYPES in row else ()
    return Mention(_texts(row, LEFT), tuple(span.split()), _texts(row, RIGHT), tuple(dict.fromkeys(labels)))


def _check_types(mention: Mention, types: TypeInventory, *, explain: bool) -> None:
    for label in mention.types:
        if label not in types:
            if explain:
                types.find(label)  # says what is near
            raise ValueError(f"expected a type as the inventory writes it, got {label!r}; check the spelling")


def _texts(row: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = row[key]
    if not isinstance(value, list) or not all(isinstance(part, str) and part.strip() for part in value):
        raise ValueError(f"expected a list of words in {key}, got {value!r:.40}; write e.g. ['said', 'the']")
    return tuple(value)


def as_row(mention: Mention) -> str:
    """A mention as a line that :func:`read_mentions` reads."""
    values = (list(mention.left), " ".join(mention.words), list(mention.right), list(mention.types))
    return json.dumps(dict(zip((LEFT, SPAN, RIGHT, TYPES), values, strict=True)), ensure_ascii=False)
