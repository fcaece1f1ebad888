"""Tables and pictures of translation."""

from __future__ import annotations

import math
from pathlib import Path

from hybonet.reporting.charts import GROUP_COLOURS, INK, new_figure, plain_axes
from hybonet.reporting.run_report import Spread, markdown_table
from results.figures import NOTHING, speed, spread, values, worked_minutes, worked_seconds
from results.store import Record, records
from results.translation.cells import CELLS, PRECISIONS
from results.trials import kill

LABELS = {
    "hybonet": "**HyboNet**",
    "hybonet-plain": "HyboNet, nothing dropped where blocks join",
    "euclidean": "Transformer",
    "euclidean-half": "Transformer, half the rate",
    "hatt": "HAtt",
    "convolution": "ConvSeq2Seq",
    "poincare": "HyperNN++ (Poincaré)",
}


def parts() -> dict[str, object]:
    """What page.md has in braces."""
    return {
        "orders": "\n".join(order(cell) for cell in CELLS),
        "cells": "\n\n".join(section(cell) for cell in CELLS),
        "kills": kill.summary(records("kill-translation")[0]),
        **speeds(),
        **precision(),
    }


def order(cell: str) -> str:
    """The systems of one cell by tokenised BLEU, best first, in a line."""
    means = {
        LABELS[system]: Spread.of(values(found, "test.tokenized_bleu")).mean
        for system in CELLS[cell].epochs
        if (found := records(f"{cell}-{system}"))
    }
    ranked = sorted(means, key=means.__getitem__, reverse=True)
    return f"- {CELLS[cell].heading}: " + ", ".join(f"{label} {means[label]:.1f}" for label in ranked)


def section(cell: str) -> str:
    """Heading, remark, table and picture of one cell."""
    picture = f"![Perplexity on validation pairs by steps and by minutes](../images/{_image(cell)})"
    return "\n\n".join(filter(None, (f"## {CELLS[cell].heading}", CELLS[cell].remark, table(cell), picture)))


def table(cell: str) -> str:
    """All systems of one cell."""
    rows = []
    for system in CELLS[cell].epochs:
        found = records(f"{cell}-{system}")
        if not found:
            rows.append([LABELS[system], "not trained yet", *[NOTHING] * 7])
            continue
        first = found[0]
        measures = [spread(found, f"test.{name}", 1) for name in ("bleu", "tokenized_bleu", "chrf")]
        size, minutes = f"{first['parameters'] / 1e6:.2f}M", f"{worked_minutes(found):.1f}{_clock(first)}"
        taken = [str(len(found)), size, str(first["epochs"]), minutes]
        rows.append([LABELS[system], *taken, spread(found, "valid.perplexity", 2), *measures])
    head = ["system", "seeds", "parameters", "epochs", "minutes", "perplexity, valid", "BLEU", "tokenised BLEU", "chrF"]
    return markdown_table(head, rows)


def _clock(record: Record) -> str:
    """A mark of records that know their time by the clock alone."""
    return "" if "processor_seconds" in record["validations"][-1] else " (clock)"


def _image(cell: str) -> str:
    return f"perplexity-{cell}.png"


def speeds() -> dict[str, object]:
    """Training and decoding against the Transformer, and what the cache saves."""
    # Where both measure a case, the second counts: the first has decoded beside other work once.
    both = [speed("translation"), speed("decoding")]
    found = {(row["topic"], row["case"]): row for record in both for row in record["rows"]}
    before = [
        f"{row['ratio']:.2f}× ({row['case']})" for row in both[0]["rows"] if found[row["topic"], row["case"]] is not row
    ]
    for row in found.values():
        row["reached"] = f"{row['target']}, {'met' if row['met'] else 'missed'}" if row["target"] else ""
    at_best = []
    for dim in dict.fromkeys(case.partition(",")[0].removeprefix("d=") for _, case in found):
        training = [row for (_, case), row in found.items() if case.startswith(f"d={dim},") and "training" in case]
        share = max(row["ours"] for row in training) / max(row["peer"] for row in training)
        at_best.append(f"{share:.2f} of its speed with d = {dim}")
    return {
        "threads": " and ".join(dict.fromkeys(str(record["threads"]) for record in both)),
        "processors": " and (beam search) ".join(dict.fromkeys(f"an {record['processor']}" for record in both)),
        "before": ", ".join(before),
        "speeds": list(found.values()),
        "at_best": " and ".join(at_best),
    }


def precision() -> dict[str, object]:
    """The first steps of HyboNet in float32 and in bfloat16."""
    rows, losses = [], []
    for name in PRECISIONS:
        [record] = records(f"precision-{name}")
        last = record["validations"][-1]
        loss = last["loss"], math.log(record["valid"]["perplexity"])
        rows.append({"name": name, "steps": last["updates"], "loss": loss})
        losses.append(loss)
    training, held_out = (100 * abs(other / reference - 1) for reference, other in zip(*losses, strict=True))
    return {"training_apart": training, "held_out_apart": held_out, "precisions": rows}


def draw(folder: Path) -> None:
    """Perplexity on validation pairs by steps and by minutes, a line a system, for every cell."""
    for cell in CELLS:
        figure = new_figure((9.6, 4.8), 120, f"{cell}: perplexity on validation pairs, first seed")
        left, right = figure.subplots(1, 2, sharey=True)
        steps = _steps_an_epoch(cell)
        plain_axes(left, "steps" if steps else "epoch", "perplexity")
        plain_axes(right, "minutes", "")
        for colour, (system, label) in zip(GROUP_COLOURS, LABELS.items(), strict=False):
            if runs := records(f"{cell}-{system}"):
                rows, name = runs[0]["validations"], label.strip("*") + _clock(runs[0])
                style = {"color": colour, "marker": "o", "markersize": 3}
                perplexities = [row["perplexity"] for row in rows]
                left.plot([row["epoch"] * (steps or 1) for row in rows], perplexities, label=name, **style)
                right.plot([worked_seconds(row) / 60 for row in rows], perplexities, **style)
        for axes in (left, right):
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter("{x:g}")
            axes.yaxis.set_minor_formatter("{x:g}")
        figure.subplots_adjust(bottom=0.25)
        figure.legend(*left.get_legend_handles_labels(), loc="lower center", ncols=3, frameon=False, labelcolor=INK)
        figure.savefig(folder / _image(cell))


def _steps_an_epoch(cell: str) -> int | None:
    """The same for all systems of a cell, and known to records made since they count updates."""
    for system in LABELS:
        for record in records(f"{cell}-{system}"):
            first = record["validations"][0]
            if "updates" in first:
                return first["updates"] // first["epoch"]
    return None
