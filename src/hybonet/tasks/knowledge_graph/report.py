"""What is shown of knowledge-graph models: figures of a training and of an evaluation, and answers."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from hybonet.reporting.headlines import Headline, Measure
from hybonet.reporting.narrow_table import add_row, narrow_table, range_text

if TYPE_CHECKING:
    from hybonet.tasks.run import Run

headline = Headline(
    "Knowledge graphs",
    "Test triples, filtered ranking both ways, ties realistic. paper_code: MRR by the protocol of the paper's code "
    "(easier). ECE: calibration error of probabilities.",
    {"model": ("settings", "model"), "dim": ("settings", "dim"), "questions": ("test", "both", "count")},
    (
        Measure("MRR", ("test", "both", "mrr")),
        *(Measure(f"H@{k}", ("test", "both", f"hits@{k}")) for k in (1, 3, 10)),
        Measure("paper_code", ("test_paper_code", "mrr")),
        Measure("ECE", ("test", "calibration", "ece")),
    ),
    Measure("valid MRR", ("valid", "mrr")),
)

_SHOWN = {
    "mrr": "MRR",
    "hits@1": "H@1",
    "hits@3": "H@3",
    "hits@10": "H@10",
    "mean_rank": "MR",
    "adjusted_mean_rank": "AMR",
}
#: What the headers mean.
LEGEND = (
    "MRR: mean of 1/rank. H@k: share of answers ranked k or better. MR: mean rank. AMR: mean rank divided by that of "
    "guessing, so 1 is chance and less is better. 95 %: where the figures of that share of resampled test sets lie."
)
PAPER_CODE = "paper's code: its protocol, where the head itself is no candidate; it is easier."


def _cells(metrics: dict[str, float]) -> list[str]:
    return [f"{metrics[name]:.1f}" if name == "mean_rank" else f"{metrics[name]:.3f}" for name in _SHOWN]


def metrics_table(record: dict[str, Any]) -> Table:
    """The record of a run in a few lines: validation, test, and test by the protocol of the paper's code."""
    data, settings = record["data"], record["settings"]
    asked = f", {record['test']['both']['count']:,.0f} test questions" if "test" in record else ""
    table = narrow_table(
        [""],
        list(_SHOWN.values()),
        title=f"{data['source']}: {data['entities']:,} entities, {data['relations']} relations\n"
        f"{settings['dim']} ambient coordinates, best epoch {record['best_epoch']} of {record['epochs']}, "
        f"{record['seconds']:.0f} s{asked}",
    )
    add_row(table, "validation", *_cells(record["valid"]))
    if "test" in record:
        add_row(table, "test", *_cells(record["test"]["both"]), style="bold")
        _add_interval(table, record["test"]["both"])
        add_row(table, "test (paper's code)", *_cells(record["test_paper_code"]), style="dim")
        if "test_one_direction" in record:
            add_row(table, "test (one direction)", *_cells(record["test_one_direction"]), style="dim")
    return table


def evaluation_tables(result: dict[str, Any]) -> list[Table | Text]:
    """An evaluation in full: overall and by direction, by kind of relation, by relation (most triples first)."""
    numbers = ["asked", *_SHOWN.values()]
    title = f"{result['split']}, {result['protocol']} protocol, ties {result['ties']}"
    if result.get("inverse_weight"):
        title += f", inverse weight {result['inverse_weight']:g} (power {result['inverse_power']:g})"
    overall = narrow_table(["questions"], numbers, title=title)
    for name in ("both", "tails", "heads"):
        add_row(overall, name, f"{result[name]['count']:.0f}", *_cells(result[name]))
        _add_interval(overall, result[name], "")
    kinds = narrow_table(["kind"], numbers)
    for name, metrics in result["by_category"].items():
        add_row(kinds, name, f"{metrics['count']:.0f}", *_cells(metrics))
    relations = narrow_table(["relation"], ["kind", *numbers])
    for name, metrics in sorted(result["by_relation"].items(), key=lambda item: -item[1]["count"]):
        add_row(relations, name, metrics["category"], f"{metrics['count']:.0f}", *_cells(metrics))
    return [overall, kinds, relations, *([] if "calibration" not in result else [_calibration(result["calibration"])])]


def _add_interval(table: Table, metrics: Mapping[str, Any], *before: str) -> None:
    """A row below the figures with where 95 % of the resampled ones lie; nothing of a record that has none."""
    if found := metrics.get("interval"):
        cells = (range_text(found.get(name)) for name in _SHOWN)
        add_row(table, "  95 %", *before, *cells, style="dim")


def _calibration(measured: Mapping[str, Any]) -> Text:
    """How far probabilities are to be trusted."""
    return Text(
        f"probabilities: calibration error {measured['ece']:.3f}, Brier score {measured['brier']:.3f} of "
        f"{measured['cases']:,} triples, true and false"
    )


def examples_table(rows: list[tuple[str, list[tuple[str, float | None, bool]], tuple[str, int]]]) -> Table:
    """Questions with their best answers (name, probability, whether true) and the held-out answer with its rank."""
    table = narrow_table(["question"], [], ["best answers, ✓ true", "held out, its rank"])
    for question, answers, (truth, rank) in rows:
        line = Text()
        for name, probability, true in answers:
            line.append(", " if line else "")
            line.append(f"✓ {name}" if true else name, style="bold green" if true else "")
            if probability is not None:
                line.append(f" {probability:.2f}", style="dim")
        table.add_row(Text(question), line, Text(f"{truth}, {rank:,}"))
    return table


def after_training(run: Run) -> Iterable[Any]:
    """What the terminal shows when a training is done."""
    record = run.record
    assert record is not None
    yield metrics_table(record)
    yield Text(f"{LEGEND} {PAPER_CODE if 'test' in record else ''}", style="dim")


def next_command(run: Run) -> str:
    """A question to ask the model."""
    graph = run.data.graph
    head, relation, _ = graph.train[0].tolist()
    question = f"--head {shlex.quote(graph.entities[head])} --relation {shlex.quote(graph.relations[relation])}"
    return f"Ask it: hybonet predict {shlex.quote(str(run.folder))} {question}"


def answer_tables(answered: Iterable[tuple[Mapping[str, str], list[dict[str, Any]]]]) -> Iterable[Table]:
    """Answers, a table for each question."""
    for question, answers in answered:
        title = Text(" — ".join(question.get(name, "?") for name in ("head", "relation", "tail")), style="table.title")
        figures = _answer_figures(answers)
        table = Table("", "answer", "label", *figures, "", title=title, title_justify="left")
        for rank, answer in enumerate(answers, 1):
            names = (Text(answer["name"]), Text(answer["label"]))
            table.add_row(str(rank), *names, *(f"{answer[name]:.3f}" for name in figures), answer["verdict"])
        yield table


def _answer_figures(answers: Sequence[Mapping[str, Any]]) -> list[str]:
    """Columns of numbers: what there is of probability and share, else the score."""
    there = [name for name in ("probability", "share") if all(each[name] is not None for each in answers)]
    return there or ["score"]


def judgement_table(judged: Iterable[Mapping[str, Any]]) -> Table:
    """What a model thinks of whole triples."""
    judged = list(judged)
    figures = _answer_figures(judged)
    table = Table("head", "relation", "tail", "rank of tail", "of head", *figures, "")
    for each in judged:
        ranks = (f"{each['tail_rank']:,g}", f"{each['head_rank']:,g}")
        names = (Text(each[name]) for name in ("head", "relation", "tail"))  # strings would be read as markup
        table.add_row(*names, *ranks, *(f"{each[name]:.3f}" for name in figures), each["verdict"])
    return table
