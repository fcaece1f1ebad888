"""What is shown of entity typing: figures of a training and of an evaluation, and answers."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from hybonet.data.mentions.mention_data import Mention
from hybonet.data.mentions.sentence_words import mention_in, split_words
from hybonet.reporting.headlines import Headline, Measure
from hybonet.reporting.narrow_table import add_row, narrow_table, range_text
from hybonet.tasks.typing.data import mentions_file

if TYPE_CHECKING:
    from hybonet.tasks.run import Run

LEGEND = (
    "P: macro precision over mentions with a prediction. R: macro recall over mentions with a type. F1 of the two. "
    "types: predicted for a mention on the average. 95 %: where the figures of that share of resampled mentions lie."
)
_SCORES = ("P", "R", "F1", "types")


def scores_table(results: Mapping[str, Mapping[str, Any]], title: str) -> Table:
    """Precision, recall and F1 by level, one block for each result (validation, test).

    Example:
        >>> scores = {"precision": 0.5, "recall": 0.25, "f1": 1 / 3, "predicted": 1.5, "mentions": 8.0}
        >>> table = scores_table({"test": {"total": scores}}, "a run")
        >>> [column.header for column in table.columns]
        ['', 'level', 'mentions', 'P', 'R', 'F1', 'types']
    """
    table = narrow_table(["", "level"], ["mentions", *_SCORES], title=f"{title}\n")
    for name, measured in results.items():
        for place, (level, scores) in enumerate(measured.items()):
            cells = (f"{scores[key]:.3f}" for key in ("precision", "recall", "f1"))
            label = "" if place else name
            style = None if place else "bold"
            mentions = f"{scores['mentions']:.0f}"
            add_row(table, label, level, mentions, *cells, f"{scores['predicted']:.1f}", style=style)
            if found := scores.get("interval"):
                bounds = (range_text(found.get(key)) for key in ("precision", "recall", "f1"))
                add_row(table, "", "  95 %", "", *bounds, "", style="dim")
    return table


def record_table(record: Mapping[str, Any]) -> Table:
    """The record of a run: validation and test at one half, and with the threshold chosen on validation."""
    data, settings = record["data"], record["settings"]
    results: dict[str, Mapping[str, Any]] = {}
    for split, name in (("valid", "validation"), ("test", "test")):
        if split in record:
            results[name] = record[split]
            calibrated = dict(record[f"{split}_calibrated"])
            results[f"{name}, p > {calibrated.pop('threshold'):g}"] = calibrated
    types = sum(data["types"].values())
    title = (
        f"{data['source']}: {data['train']:,} mentions, {types:,} types\n{settings['model']}, dim {settings['dim']}, "
        f"{record['parameters']:,} parameters, best epoch {record['best_epoch']} of {record['epochs']}, "
        f"{record['seconds']:.0f} s"
    )
    return scores_table(results, title)


def answers_table(sentence: str, answers: Sequence[Mapping[str, Any]]) -> Table:
    """Ranked types of one mention."""
    table = narrow_table(["", "type", "level"], ["probability"], ["predicted"], title=sentence)
    for rank, answer in enumerate(answers, 1):
        predicted = "yes" if answer["predicted"] else ""
        add_row(table, str(rank), answer["type"], answer["level"], f"{answer['probability']:.3f}", predicted)
    return table


def headline(record: Mapping[str, Any]) -> Headline:
    """What ``hybonet report`` shows of a record, with the levels of its types.

    Example:
        >>> [each.header for each in headline({"test": {"total": {}, "coarse": {}}}).measures]
        ['total F1', 'coarse', 'tuned', 'ECE']
    """
    by_level = (Measure(level, ("test", level, "f1")) for level in record.get("test", ()) if level != "total")
    return Headline(
        "Entity typing",
        "Test mentions, macro F1 of all types and by level, types above one half. tuned: of all types, above the "
        "threshold that the validation data chooses. ECE: calibration error of probabilities.",
        {"model": ("settings", "model"), "dim": ("settings", "dim"), "mentions": ("test", "total", "mentions")},
        (
            Measure("total F1", ("test", "total", "f1")),
            *by_level,
            Measure("tuned", ("test_calibrated", "total", "f1")),
            Measure("ECE", ("test", "total", "calibration", "ece")),
        ),
        Measure("valid F1", ("valid", "total", "f1")),
    )


def after_training(run: Run) -> Iterable[Any]:
    """What the terminal shows when a training is done."""
    assert run.record is not None
    yield record_table(run.record)
    yield Text(LEGEND, style="dim")


def evaluation(results: Mapping[str, Mapping[str, Any]], title: str) -> Iterable[Any]:
    """Measures, and what they mean."""
    yield scores_table(results, title)
    yield Text(LEGEND, style="dim")


def answers_tables(sentences: Sequence[str], found: Sequence[Sequence[Mapping[str, Any]]]) -> Iterable[Any]:
    """Ranked types, a table for each mention."""
    for sentence, answers in zip(sentences, found, strict=True):
        yield answers_table(sentence, answers)
        yield ""


def next_command(run: Run) -> str:
    """A question to ask the model."""
    return f"Ask it: hybonet predict {shlex.quote(str(run.folder))} {question(run.folder, run.data.valid)}"


def question(folder: Path, mentions: Sequence[Mention]) -> str:
    """Options of ``hybonet predict`` that work: the first sentence with no other brackets, else all mentions."""
    for mention in mentions:
        with contextlib.suppress(ValueError):
            if mention_in(mention.sentence).words == split_words(" ".join(mention.words)):
                return f"--sentence {shlex.quote(mention.sentence)}"
    return f"--mentions {shlex.quote(str(folder / mentions_file('valid')))}"
