"""Every cell of the graph table."""

from __future__ import annotations

from typing import Any

from hybonet.reporting.run_report import Spread, markdown_table
from results import store
from results.figures import NOTHING, values, worked_minutes
from results.graphs.cells import CELLS, DEEP, EQUAL, PAPER, SAME_UNDER_BOTH
from results.store import Record

#: The paper's table, per cent: ROC AUC of links, F1 of classes.
_PUBLISHED_CELLS = ("disease-lp", "airport-lp", "airport-nc", "pubmed-lp", "pubmed-nc", "cora-lp", "cora-nc")
_PUBLISHED = {
    "GCN": (64.7, 89.3, 81.4, 91.1, 78.1, 90.4, 81.3),
    "GAT": (69.8, 90.5, 81.5, 91.2, 79.0, 93.7, 83.0),
    "SAGE": (65.9, 90.4, 82.1, 86.2, 77.4, 85.5, 77.9),
    "SGC": (65.1, 89.8, 80.6, 94.1, 78.9, 91.5, 81.0),
    "HGCN": (91.2, 96.4, 90.6, 96.1, 78.4, 93.1, 81.3),
    "HAT": (91.8, None, None, 96.0, 78.6, 93.0, 83.1),
    "LGCN": (96.6, 96.0, 90.9, 96.8, 78.6, 93.6, 83.3),
    "HyboNet": (96.8, 97.3, 90.9, 95.8, 78.0, 93.6, 80.2),
}
PUBLISHED = {
    name: {cell: figure for cell, figure in zip(_PUBLISHED_CELLS, figures, strict=True) if figure is not None}
    for name, figures in _PUBLISHED.items()
}
SYSTEMS = ("hybonet", *EQUAL)
#: Cells where half of the nodes are ill.
TWO_CLASSES = ("disease-nc", "tree-nc")


def parts() -> dict[str, Any]:
    """What page.md has in braces."""
    accuracies = [
        [name, *(figure(records(cell, name, "standard"), "accuracy") for cell in TWO_CLASSES)] for name in SYSTEMS
    ]
    return {
        "below": furthest_below_the_paper(),
        "standard": table("standard"),
        "released": table("released"),
        "accuracies": markdown_table(["", *TWO_CLASSES], accuracies),
        "times": times(),
        "grid": store.records("grid-disease")[0]["rows"],
    }


def records(cell: str, system: str, protocol: str) -> list[Record]:
    """The records of one system in one cell."""
    if cell in SAME_UNDER_BOTH and system != PAPER:
        protocol = "standard"
    return store.records(f"{cell}-{system}-{protocol}")


def figure(found: list[Record], measure: str | None = None) -> str:
    """Mean, deviation and number of seeds, per cent; of links ROC AUC, of classes F1 if not said otherwise."""
    return f"{spread(found, measure).text(1)} ({len(found)})" if found else NOTHING


def spread(found: list[Record], measure: str | None = None) -> Spread:
    measure = measure or ("roc_auc" if "roc_auc" in found[0]["test"] else "f1")
    return Spread.of(values(found, f"test.{measure}", times=100))


def table(protocol: str) -> str:
    """All systems and cells under one protocol, the best of equal tuning bold."""
    columns = []
    for cell in CELLS:
        found = {name: records(cell, name, protocol) for name in SYSTEMS}
        column = {name: figure(each) for name, each in found.items()}
        if all(found[name] for name in EQUAL):  # nobody is the best of a cell in which systems are missing
            # Of two classes F1 alone may be had for nothing: there the best is that with the highest accuracy.
            measure = "accuracy" if cell in TWO_CLASSES else None
            best = max(EQUAL, key=lambda name: spread(found[name], measure).mean)
            column[best] = f"**{column[best]}**"
        columns.append(column)
    rows = [[name, *(column[name] for column in columns)] for name in SYSTEMS]
    if protocol == "released":
        rows.insert(1, [PAPER, *(figure(records(cell, PAPER, protocol)) for cell in CELLS)])
        rows += [[name, *(figure(records(cell, name, protocol)) for cell in CELLS)] for name in DEEP]
        for name, figures in PUBLISHED.items():
            published = (f"{figures[cell]:.1f}" if cell in figures else NOTHING for cell in CELLS)
            rows.append([f"paper: {name}", *published])
    return markdown_table(["", *CELLS], rows)


def furthest_below_the_paper(count: int = 4) -> str:
    """The systems and cells with the largest gaps, in words."""
    gaps = [
        (spread(found).mean - published, f"{system} on `{cell}`")
        for system, figures in PUBLISHED.items()
        for cell, published in figures.items()
        if (found := records(cell, system.lower(), "released"))
    ]
    return ", ".join(text for _, text in sorted(gaps)[:count])


def times() -> list[dict[str, Any]]:
    """How long a training of HyboNet takes, by cell."""
    found = {cell: records(cell, "hybonet", "standard") for cell in CELLS}
    return [
        {"cell": cell, "seconds": 60 * worked_minutes(runs), "epochs": Spread.of(values(runs, "epochs")).mean}
        for cell, runs in found.items()
        if runs
    ]
