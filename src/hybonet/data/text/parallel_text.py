"""Sentences and their translations, read from two aligned files or from a table; what is odd is counted and told."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hybonet.data.io.source_file import SourceFile
from hybonet.data.io.text_table import decode

_SHOWN = 3  # lines named in a note
#: What the columns of a table may be called: these, or two languages.
_LANGUAGES = frozenset(
    ("ar", "cs", "de", "en", "es", "fi", "fr", "hi", "it", "ja", "ko", "nl", "pl", "pt", "ru", "tr", "zh")
)
_COLUMNS = frozenset(("source", "src", "target", "tgt", "translation", "sentence", "text", "input", "output"))
_DIRECTION = re.compile(r"[a-z]{2,3}-[a-z]{2,3}")


@dataclass(frozen=True)
class Pairs:
    """Sentences and their translations, in the same order.

    Example:
        >>> pairs = Pairs(("a dog",), ("ein Hund",))
        >>> len(pairs), list(pairs)
        (1, [('a dog', 'ein Hund')])
    """

    source: tuple[str, ...]
    target: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.source)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(zip(self.source, self.target, strict=True))

    def reversed(self) -> Pairs:
        """The same, translated the other way."""
        return Pairs(self.target, self.source)


@dataclass(frozen=True)
class ParallelText:
    """A corpus: pairs for training, validation and test, perhaps further test sets.

    Example:
        >>> dogs = Pairs(("a dog",), ("ein Hund",))
        >>> ParallelText("dogs", ("en", "de"), {"train": dogs, "valid": dogs}).statistics()
        {'train': 1, 'valid': 1}
    """

    #: Name or path.
    source: str
    #: From which language into which.
    languages: tuple[str, str]
    splits: Mapping[str, Pairs]
    #: Checksums of the files, unpacked.
    sha256: Mapping[str, str] = field(default_factory=dict)
    #: Whether punctuation stands apart already, as Moses does it: scores are taken of text put together again.
    tokenized: bool = False
    #: Merges of subword-nmt that belong to the corpus.
    merges: tuple[tuple[str, str], ...] = ()
    #: What is odd, for people.
    notes: tuple[str, ...] = ()

    def statistics(self) -> dict[str, int]:
        """Pairs by split."""
        return {name: len(pairs) for name, pairs in self.splits.items()}


def check_direction(direction: str, known: Iterable[str] = ()) -> tuple[str, str]:
    """The two languages of ``en-de``; of a corpus with ``known`` directions it must be one of these.

    Example:
        >>> check_direction("en-de")
        ('en', 'de')
        >>> check_direction("en-fr", ["en-de", "de-en"])
        Traceback (most recent call last):
        ValueError: expected the direction en-de or de-en, got 'en-fr'; choose one of them
    """
    known = list(known)
    if known and direction not in known:
        raise ValueError(f"expected the direction {' or '.join(known)}, got {direction!r}; choose one of them")
    if not _DIRECTION.fullmatch(direction):
        raise ValueError(
            f"expected two languages by their codes in small letters, such as en-de, got {direction!r}; name the "
            "language of the source first"
        )
    first, _, second = direction.partition("-")
    if first == second:
        raise ValueError(f"expected two different languages, got {direction!r}; name the language of the source first")
    return first, second


def read_aligned(source: SourceFile, target: SourceFile, notes: list[str]) -> Pairs:
    r"""Pairs of two files whose lines belong together; a pair with an empty side is left out and noted.

    Example:
        >>> english = SourceFile("a.en", "a.en", b"a dog\n\na cat\n")
        >>> german = SourceFile("a.de", "a.de", b"ein Hund\n?\neine Katze\n")
        >>> notes = []
        >>> read_aligned(english, german, notes).source, notes
        (('a dog', 'a cat'), ['a.en, a.de: 1 pair with an empty side left out (line 2)'])
    """
    first, second = _lines(source), _lines(target)
    if len(first) != len(second):
        raise ValueError(
            f"expected as many lines in {target.source} as in {source.source}, got {len(second):,} and "
            f"{len(first):,}; give two files whose lines belong together"
        )
    return whole_pairs(first, second, f"{source.source}, {target.source}", notes)


def read_table(file: SourceFile, notes: list[str]) -> Pairs:
    r"""Pairs of a file with source, tab and target per line; a header and pairs with an empty side are left out.

    Example:
        >>> read_table(SourceFile("a.tsv", "a.tsv", b"en\tde\na dog\tein Hund\n"), []).target
        ('ein Hund',)
    """
    rows = [line.split("\t") for line in _lines(file)]
    for number, row in enumerate(rows, 1):
        if len(row) != 2 and any(cell.strip() for cell in row):
            raise ValueError(
                f"{file.source}, line {number}: expected a sentence, a tab and its translation, got {len(row)} "
                f"column{'s' if len(row) > 1 else ''}; correct the line, or give two aligned files with --source and "
                "--target"
            )
    first = 1
    if len(rows) > 1 and _is_header(rows[0]):
        notes.append(f"{file.source}: the first row ({rows[0][0]}, {rows[0][1]}) is read as column names")
        rows, first = rows[1:], 2
    filled = [row if len(row) == 2 else ["", ""] for row in rows]
    return whole_pairs([row[0] for row in filled], [row[1] for row in filled], file.source, notes, first=first)


def _is_header(row: Sequence[str]) -> bool:
    """Whether a first row names its columns: by usual words, or by two languages."""
    words = [cell.strip().casefold() for cell in row]
    return len(words) == 2 and (all(word in _COLUMNS for word in words) or all(word in _LANGUAGES for word in words))


def note_shared(splits: Mapping[str, Pairs]) -> list[str]:
    """A note for every split with sentences that training has seen.

    Example:
        >>> dogs = Pairs(("a dog",), ("ein Hund",))
        >>> note_shared({"train": dogs, "test": dogs})
        ['1 of 1 pairs of test also occur in train']
    """
    seen = set(splits["train"])
    counts = {name: sum(pair in seen for pair in pairs) for name, pairs in splits.items() if name != "train"}
    return [f"{n:,} of {len(splits[name]):,} pairs of {name} also occur in train" for name, n in counts.items() if n]


def _lines(file: SourceFile) -> list[str]:
    """Lines of a text file. Only line feeds end them: other separators of Unicode occur inside sentences."""
    text = decode(file.content, file.source)
    if not text.strip():
        raise ValueError(f"{file.source}: expected sentences, got an empty file; give one with a sentence per line")
    return [line.rstrip("\r") for line in text.removesuffix("\n").split("\n")]


def whole_pairs(
    source: Sequence[str],
    target: Sequence[str],
    where: str,
    notes: list[str],
    *,
    lines_are: str = "line",
    first: int = 1,
) -> Pairs:
    """Pairs of sentences, those with an empty side left out and noted; ``first`` is the number of the first line."""
    source, target = [text.strip() for text in source], [text.strip() for text in target]
    empty = [number for number, pair in enumerate(zip(source, target, strict=True), first) if not all(pair)]
    if empty:
        shown = ", ".join(map(str, empty[:_SHOWN])) + (", …" if len(empty) > _SHOWN else "")
        plural = "" if len(empty) == 1 else "s"
        notes.append(f"{where}: {len(empty):,} pair{plural} with an empty side left out ({lines_are}{plural} {shown})")
    kept = [pair for pair in zip(source, target, strict=True) if all(pair)]
    if not kept:
        raise ValueError(
            f"{where}: expected sentences with translations, but every pair has an empty side; fill them in"
        )
    return Pairs(tuple(pair[0] for pair in kept), tuple(pair[1] for pair in kept))
