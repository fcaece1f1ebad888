"""Links and classes as tables, JSON or CSV."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from hybonet.cli.answers import write_rows

if TYPE_CHECKING:
    from hybonet.tasks.graph.predictor import NetworkModel

_ALL_IN_A_TABLE = 40


def show_links(
    model: NetworkModel, nodes: Sequence[str] | None, top: int, new: bool, form: str, output: Path | None
) -> None:
    """The most probable links of some nodes, or the most probable missing ones of the graph."""
    from rich.console import Console

    from hybonet.tasks.graph.report import links_table

    found = {node: model.links(node, top, known=not new) for node in nodes or ()}
    if not nodes:
        found = {"": model.missing_links(top)}
    if form == "table":
        for node, links in found.items():
            title = f"Links of {node}" if node else "Links that the graph lacks"
            Console(highlight=False).print(links_table(links, title))
        typer.echo("probability: of a link, where links and pairs without one are equally many")
        return
    rows = [{"rank": rank, **asdict(link)} for links in found.values() for rank, link in enumerate(links, 1)]
    write_rows(rows, form, output, f"{len(rows):,} answers")


def show_classes(model: NetworkModel, nodes: Sequence[str] | None, form: str, output: Path | None) -> None:
    """The classes of some nodes, or of all."""
    from rich.console import Console

    from hybonet.tasks.graph.report import classes_table

    answers = model.classify(nodes or None)
    if form == "table":
        Console(highlight=False).print(classes_table(answers[:_ALL_IN_A_TABLE]))
        if len(answers) > _ALL_IN_A_TABLE:
            typer.echo(f"{len(answers) - _ALL_IN_A_TABLE:,} nodes more; --output classes.csv writes them all")
        return
    if form == "json":
        write_rows([answer.as_dict() for answer in answers], form, output, f"{len(answers):,} answers")
        return
    rows = []
    for answer in answers:
        row = answer.as_dict()
        shares = {f"p({name})": share for name, share in row.pop("probabilities").items()}
        rows.append({**row, **shares})
    write_rows(rows, form, output, f"{len(rows):,} answers")
