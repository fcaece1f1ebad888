"""What the stacks learn: copying, reversal, nested brackets, and translation of Multi30k."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import torch
from torch import Tensor

from hybonet.data import load_corpus
from hybonet.data.text.token_pairs import TokenBatches
from hybonet.data.text.translation_data import TranslationData, prepare

KINDS = 8  # of brackets
IGNORED = -100  # a label that is not asked for

#: Words, tokens, sizes of models and of trainings, as they stand in records.
_SMALL = {"width": 32, "heads": 4, "inner": 128, "words": 50, "length": 12, "batch": 16}
_TEXT = {"width": 64, "heads": 4, "inner": 256, "words": 4000, "length": 100, "batch": 750, "positions": "learned"}
SETTINGS: dict[str, dict[str, Any]] = {
    "copy": {**_SMALL, "steps": 150},
    "reversal": {**_SMALL, "steps": 300},
    "brackets": {**_SMALL, "words": 2 * KINDS, "steps": 300},
    "multi30k": {**_TEXT, "steps": 1000},
}
WARM_UP = {"multi30k": 60}

Batch = tuple[tuple[Tensor, ...], Tensor]


def positions(cell: dict[str, Any]) -> Any:
    """The kind of position vectors; copying needs none."""
    return None if cell["task"] == "copy" else cell.get("positions", "learned")


def batches(cell: dict[str, Any]) -> Iterator[Batch]:
    """Inputs of the model and labels of its outputs, without end."""
    generator = torch.Generator().manual_seed(1000 + cell["seed"])
    if cell["task"] == "multi30k":
        yield from _sentences(cell, generator)
    while True:
        yield _drawn(cell, generator)


def _drawn(cell: dict[str, Any], generator: torch.Generator) -> Batch:
    if cell["task"] == "brackets":
        rows = torch.tensor([_nested(cell["length"] + 1, generator) for _ in range(cell["batch"])])
        labels = rows[:, 1:].clone()
        labels[labels < KINDS] = IGNORED  # which bracket opens next is chance
        return (rows[:, :-1],), labels
    words = torch.randint(cell["words"], (cell["batch"], cell["length"]), generator=generator)
    return (words,), words if cell["task"] == "copy" else words.flip(1)


def _nested(length: int, generator: torch.Generator) -> list[int]:
    """The first brackets of a balanced row: kinds 0 to 7 open, the same plus 8 close."""
    row: list[int] = []
    waiting: list[int] = []
    whole = length + length % 2
    while len(row) < whole:
        opens = len(waiting) < whole - len(row) and (not waiting or bool(torch.rand((), generator=generator) < 0.5))
        if opens:
            waiting.append(int(torch.randint(KINDS, (), generator=generator)))
        row.append(waiting[-1] if opens else waiting.pop() + KINDS)
    return row[:length]


@cache
def corpus(words: int) -> TranslationData:
    """Multi30k from English to German, with so many pieces of words a language."""
    return prepare(load_corpus("multi30k", direction="en-de"), "unigram", words)


def _sentences(cell: dict[str, Any], generator: torch.Generator) -> Iterator[Batch]:
    cut = TokenBatches(corpus(cell["words"]).tokens["train"], cell["batch"])
    while True:
        for rows in cut.shuffled(generator):
            yield _translated(cut, rows)


def _translated(cut: TokenBatches, rows: Tensor) -> Batch:
    batch = cut.batch(rows)
    return (batch.source, batch.target_in), batch.target_out.masked_fill(batch.target_out == 0, IGNORED)


def held_out(cell: dict[str, Any]) -> list[Batch]:
    """Multi30k's validation sentences; of the other tasks, every batch is new."""
    if cell["task"] != "multi30k":
        return []
    cut = TokenBatches(corpus(cell["words"]).tokens["valid"], 4 * cell["batch"])
    return [_translated(cut, rows) for rows in cut.in_order()]
