"""What is shown of translation models: scores with what they were made with, and translations."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from hybonet.reporting.headlines import Headline, Measure
from hybonet.reporting.narrow_table import add_row, narrow_table

if TYPE_CHECKING:
    from hybonet.tasks.run import Run

headline = Headline(
    "Translation",
    "Test sentences. BLEU and chrF: sacreBLEU's, of plain text. tok. BLEU: of lowercased Moses tokens, the paper's "
    "convention. ppl: perplexity of the references, lower is better.",
    {
        "direction": ("data", "direction"),
        "model": ("settings", "model"),
        "dim": ("settings", "dim"),
        "sentences": ("test", "sentences"),
    },
    (
        Measure("BLEU", ("test", "bleu"), decimals=2),
        Measure("tok. BLEU", ("test", "tokenized_bleu"), decimals=2),
        Measure("chrF", ("test", "chrf"), decimals=2),
        Measure("ppl", ("test", "perplexity"), decimals=2),
    ),
    Measure("valid ppl", ("valid", "perplexity"), decimals=2),
)

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


def evaluation_tables(scores: Mapping[str, Any]) -> Iterable[Any]:
    """The scores of a split, and how they were made."""
    yield scores_table({scores["split"]: scores})
    yield from _explained(scores)


def after_training(run: Run) -> Iterable[Any]:
    """What the terminal shows when a training is done."""
    record = run.record
    assert record is not None
    yield scores_table(record)
    yield from _explained(record.get("test"))
    if "test" in record:
        yield examples_table(record["test"]["examples"])


def _explained(scores: Mapping[str, Any] | None) -> Iterable[Text]:
    yield Text(LEGEND, style="dim")
    for line in signature_lines(scores) if scores is not None else ():
        yield Text(line, style="dim", no_wrap=True, overflow="ignore")  # to be copied whole


def next_command(run: Run) -> str:
    """A sentence to translate."""
    sentence = "A sentence , cut as the training text is ." if run.about["tokenized"] else "A sentence."
    return f"Translate with it: echo '{sentence}' | hybonet translate {shlex.quote(str(run.folder))}"
