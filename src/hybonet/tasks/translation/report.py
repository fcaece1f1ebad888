"""Tables of translation scores for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hybonet.reporting.narrow_table import add_row, narrow_table

if TYPE_CHECKING:
    from rich.table import Table

LEGEND = (
    "Perplexity: of the references, lower is better. BLEU and chrF: sacreBLEU's, of plain text. Tokenised BLEU: of "
    "lowercased Moses tokens, the paper's convention; not comparable with BLEU."
)


def scores_table(record: Mapping[str, Any]) -> Table:
    """A row for each split that a record has scores of.

    Example:
        >>> table = scores_table({"valid": {"perplexity": 2.0}, "test": {"perplexity": 2.1, "bleu": 31.0, "chrf": 55.0,
        ...     "tokenized_bleu": 33.0}})
        >>> table.row_count
        2
    """
    table = narrow_table(["split"], ["perplexity", "BLEU", "chrF", "tokenised BLEU"], [])
    for split, scores in record.items():
        if isinstance(scores, Mapping) and "perplexity" in scores:
            numbers = [f"{scores[key]:.2f}" if key in scores else "" for key in ("bleu", "chrf", "tokenized_bleu")]
            add_row(table, split, f"{scores['perplexity']:.2f}", *numbers)
    return table


def signature_lines(scores: Mapping[str, Any]) -> list[str]:
    """What the scores were made with, a line each."""
    names = {"bleu": "BLEU", "chrf": "chrF", "tokenized_bleu": "tokenised BLEU"}
    found = f"beam {scores['beam']}, length penalty {scores['length_penalty']:g}"
    return [*(f"{name}: {scores['signatures'][key]}" for key, name in names.items()), found]


def examples_table(examples: Sequence[Mapping[str, str]]) -> Table:
    """Sentences, references and translations one below the other."""
    table = narrow_table(["first test sentences"], [], [""])
    for example in examples:
        for name in ("source", "reference", "translation"):
            add_row(table, name, example[name])
    return table
