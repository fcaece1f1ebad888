"""Every cell of the graph table."""

from __future__ import annotations

from typing import Any

from hybonet.reporting.run_report import Spread, markdown_table
from results import store
from results.figures import NOTHING, values, worked_minutes
from results.graphs.cells import CELLS, EQUAL, OURS_ALONE, PAPER, SAME_UNDER_BOTH
from results.store import Record

#: The paper's table, per cent: ROC AUC of links, F1 of classes.
PUBLISHED = {
    "GCN": {"disease-lp": 64.7, "airport-lp": 89.3, "airport-nc": 81.4, "cora-lp": 90.4, "cora-nc": 81.3},
    "GAT": {"disease-lp": 69.8, "airport-lp": 90.5, "airport-nc": 81.5, "cora-lp": 93.7, "cora-nc": 83.0},
    "SAGE": {"disease-lp": 65.9, "airport-lp": 90.4, "airport-nc": 82.1, "cora-lp": 85.5, "cora-nc": 77.9},
    "SGC": {"disease-lp": 65.1, "airport-lp": 89.8, "airport-nc": 80.6, "cora-lp": 91.5, "cora-nc": 81.0},
    "HGCN": {"disease-lp": 91.2, "airport-lp": 96.4, "airport-nc": 90.6, "cora-lp": 93.1, "cora-nc": 81.3},
    "HAT": {"disease-lp": 91.8, "cora-lp": 93.0, "cora-nc": 83.1},
    "LGCN": {"disease-lp": 96.6, "airport-lp": 96.0, "airport-nc": 90.9, "cora-lp": 93.6, "cora-nc": 83.3},
    "HyboNet": {"disease-lp": 96.8, "airport-lp": 97.3, "airport-nc": 90.9, "cora-lp": 93.6, "cora-nc": 80.2},
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
    cells = [cell for cell in CELLS if protocol == "standard" or cell not in OURS_ALONE]
    columns = []
    for cell in cells:
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
        rows.insert(1, [PAPER, *(figure(records(cell, PAPER, protocol)) for cell in cells)])
        for name, figures in PUBLISHED.items():
            published = (f"{figures[cell]:.1f}" if cell in figures else NOTHING for cell in cells)
            rows.append([f"paper: {name}", *published])
    return markdown_table(["", *cells], rows)


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
