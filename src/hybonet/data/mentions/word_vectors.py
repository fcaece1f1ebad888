"""Word vectors from a text file of any size: a word and its numbers per line, as GloVe, word2vec and fastText write."""

from __future__ import annotations

import gzip
import hashlib
import lzma
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

#: So many first words of a file are kept whether the data has them or not: the files begin with frequent ones.
KEPT = 50_000
#: Rows of the table before the first word.
PADDING, UNKNOWN, FIRST = 0, 1, 2


@dataclass(frozen=True, repr=False)
class WordVectors:
    """A table of vectors: row 0 is padding (zero), row 1 stands for every unknown word (the mean), then the words.

    Example:
        >>> vectors = WordVectors(("dog", "Paris"), torch.tensor([[1.0, 0.0], [0.0, 1.0]]))
        >>> vectors.number("Dog"), vectors.number("paris"), vectors.table[UNKNOWN].tolist()
        (2, 1, [0.5, 0.5])
    """

    words: tuple[str, ...]
    vectors: Tensor
    source: str = "vectors"
    sha256: str = ""
    #: What people should know.
    notes: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        if self.vectors.dim() != 2 or len(self.vectors) != len(self.words) or not self.words:
            raise ValueError(
                f"expected a vector for each of {len(self.words)} words, got the shape {tuple(self.vectors.shape)}"
            )

    def __repr__(self) -> str:
        return f"WordVectors({self.source!r}: {len(self.words):,} words, {self.size} numbers each)"

    @property
    def size(self) -> int:
        """Numbers a word."""
        return self.vectors.shape[1]

    @cached_property
    def table(self) -> Tensor:
        """Rows for padding and unknown words, then the words', ``(2 + words, size)``."""
        mean = self.vectors.mean(0, keepdim=True)
        return torch.cat((torch.zeros_like(mean), mean, self.vectors))

    def number(self, word: str) -> int:
        """The row of a word: as it is written, else in small letters, else that of the unknown ones."""
        found = self._rows.get(word)
        return self._rows.get(word.lower(), UNKNOWN) if found is None else found

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.words, FIRST)}


def read_vectors(path: str | Path, wanted: Collection[str] = (), *, keep: int = KEPT) -> WordVectors:
    """Read a text file of word vectors (packed with gzip or xz, if its name says so) line by line.

    Kept are the ``wanted`` words, as written or in small letters, and the first ``keep`` of the file. A first line of
    two whole numbers, as word2vec and fastText write it, is skipped; of a repeated word the first line counts.
    """
    path, digest = Path(path), hashlib.sha256()
    if not path.is_file():
        what = "a folder" if path.is_dir() else "not there"
        raise ValueError(f"expected a file of word vectors, got {str(path)!r}, which is {what}; check the path")
    sought = {form for word in wanted for form in (word, word.lower())}
    rows: dict[str, NDArray[np.float32]] = {}
    size = seen = repeated = 0
    for line, content in enumerate(_lines(path), 1):
        digest.update(content)
        where = f"{path}, line {line}"
        fields = _decoded(content, where).split(" ")
        if line == 1 and len(fields) == 2 and all(part.isdigit() for part in fields):
            continue
        if fields == [""]:
            continue
        if not size:
            size = len(fields) - 1
            if size < 1:
                raise ValueError(f"{where}: expected a word and its numbers, got {fields[0]!r:.40}; check the file")
        if len(fields) <= size:
            raise ValueError(
                f"{where}: expected a word and {size} numbers as in the lines before, got {len(fields)} fields; the "
                "file may be cut off"
            )
        seen += 1
        word = " ".join(fields[:-size])  # some files have words with spaces
        if word in rows:
            repeated += 1
        elif seen <= keep or word in sought:
            rows[word] = _numbers(fields[-size:], where)
    if not rows:
        raise ValueError(f"{path}: expected a word and its numbers per line, got an empty file; check the path")
    notes = (f"{path.name}: {repeated:,} repeated words, of which the first line counts",) if repeated else ()
    vectors = torch.from_numpy(np.stack(list(rows.values())))
    return WordVectors(tuple(rows), vectors, str(path), digest.hexdigest(), notes)


def _lines(path: Path) -> Iterator[bytes]:
    openers: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open}
    suffix = path.suffix.lower()
    with openers.get(suffix, open)(path, "rb") as file:
        try:
            yield from file
        except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
            raise ValueError(
                f"{path}: expected {suffix.removeprefix('.')} data, got a damaged or mislabelled file ({error}); fetch "
                "it again, or give it the ending that says how it is packed"
            ) from None


def _decoded(content: bytes, where: str) -> str:
    try:
        return content.decode("utf-8").rstrip(" \r\n")
    except UnicodeDecodeError:
        raise ValueError(f"{where}: expected UTF-8 text, got something else; give a text file of vectors") from None


def _numbers(fields: Sequence[str], where: str) -> NDArray[np.float32]:
    try:
        with np.errstate(over="ignore"):
            row = np.array(fields, dtype=np.float32)
    except ValueError as error:
        raise ValueError(f"{where}: expected numbers after the word, but {error}; check the file") from None
    if not np.isfinite(row).all():
        at = int(np.isfinite(row).argmin())
        raise ValueError(
            f"{where}: expected finite numbers that float32 holds, got {fields[at]!r:.40} in number {at + 1} after the "
            "word; remove the line"
        )
    return row
