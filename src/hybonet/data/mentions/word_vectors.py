"""Word vectors from a text file of any size: a word and its numbers per line, as GloVe, word2vec and fastText write."""

from __future__ import annotations

import gzip
import hashlib
import lzma
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hybonet.extras import encoder_in

#: So many first words of a file are kept whether the data has them or not: the files begin with frequent ones.
KEPT = 50_000
#: Rows of the table before the first word.
PADDING, UNKNOWN, FIRST = 0, 1, 2


@dataclass(frozen=True, repr=False)
class WordVectors:
    """A table of vectors: row 0 is padding (zero), row 1 stands for every unknown word (the mean), then the words."""

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


#: What is said instead of a file.
HASHED = "hashed"
_SIZE = 100
#: Parts of words have one of so many random vectors; parts of so many letters.
_BUCKETS, _LETTERS = 1 << 14, (3, 4, 5)
_AT_A_TIME = 128


def hashed_vectors(words: Collection[str]) -> WordVectors:
    """A vector for every word, from its letters alone: the mean of random ones of its parts, which are hashed.

    Words that share parts (run, runs, runner) are near each other; of meaning they know nothing more. The same word has
    the same vector everywhere.

    Example:
        >>> found = hashed_vectors(["runner", "runners", "violet"])
        >>> unit = torch.nn.functional.normalize(found.vectors)
        >>> bool(unit[0] @ unit[1] > 0.5), bool((unit[0] @ unit[2]).abs() < 0.5)
        (True, True)
    """
    forms = sorted({word.lower() for word in words}) or [""]
    vectors = torch.stack([_random()[torch.tensor(_parts(word))].sum(0) for word in forms])
    vectors = torch.nn.functional.normalize(vectors)
    note = "words are read by their letters alone (hashed); vectors with meaning (--words, such as GloVe's) do better"
    return WordVectors(tuple(forms), vectors, HASHED, _checksum(vectors), (note,))


@lru_cache(maxsize=1)
def _random() -> Tensor:
    return torch.randn(_BUCKETS, _SIZE, generator=torch.Generator().manual_seed(0))


def _parts(word: str) -> list[int]:
    """Buckets of a word and of its parts; those at its ends know that they are there."""
    marked = f"<{word}>"
    parts = [marked, *(marked[at : at + n] for n in _LETTERS for at in range(len(marked) - n + 1))]
    return [
        int.from_bytes(hashlib.blake2b(part.encode("utf-8", "surrogatepass"), digest_size=4).digest(), "big") % _BUCKETS
        for part in parts
    ]


@torch.no_grad()
def encoder_vectors(folder: Path, words: Collection[str]) -> WordVectors:
    """What a Hugging Face sentence encoder in a folder makes of every word by itself: the mean of its last layer."""
    tokenizer, model = encoder_in(folder, "a file of word vectors, or a Hugging Face model")
    forms, parts = sorted(words) or [""], []
    for start in range(0, len(forms), _AT_A_TIME):
        # One by one where there is no piece for padding.
        some = forms[start : start + _AT_A_TIME]
        batches = [some] if tokenizer.pad_token_id is not None else [[word] for word in some]
        for batch in batches:
            coded = tokenizer(batch, return_tensors="pt", padding=len(batch) > 1, truncation=True)
            last = model(input_ids=coded["input_ids"], attention_mask=coded["attention_mask"]).last_hidden_state
            mask = coded["attention_mask"][..., None].to(last)
            parts.append((last * mask).sum(1) / mask.sum(1).clamp_min(1))
    vectors = torch.cat(parts).float()
    note = f"words are read by the sentence encoder {folder.name}, each by itself"
    return WordVectors(tuple(forms), vectors, str(folder), _checksum(vectors), (note,))


def _checksum(vectors: Tensor) -> str:
    return hashlib.sha256(vectors.contiguous().numpy().tobytes()).hexdigest()
