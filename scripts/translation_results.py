"""Write docs/results/translation.md and its pictures from the stored records; nothing in its tables is typed by hand.

python scripts/translation_results.py
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import kill_trial
import translation_cells
from hybonet.reporting.charts import GROUP_COLOURS, INK, new_figure, plain_axes
from hybonet.reporting.run_report import Spread, markdown_table
from stored_records import RECORDS, of_experiment, worked_seconds

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs/results/translation.md"
#: Where both measure a case, the second counts: the first has decoded beside other work once.
SPEEDS = [ROOT / f"benchmarks/results/{topic}.json" for topic in ("translation", "decoding")]
KILLS = RECORDS / "kill_trial_translation.json"

LABELS = {
    "hybonet": "**HyboNet**",
    "hybonet-plain": "HyboNet, nothing dropped where blocks join",
    "euclidean": "Transformer",
    "euclidean-half": "Transformer, half the rate",
    "hatt": "HAtt",
    "convolution": "ConvSeq2Seq",
    "poincare": "HyperNN++ (Poincaré)",
}
INTRODUCTION = """
# Translation: results

Made by `python scripts/translation_results.py` from run records; do not edit. Each record ([records](records/translation)) holds settings,
seed, commit, versions, data checksums, protocol and time; all come from `python scripts/reproduce.py 'multi30k-*' 'iwslt14-*' --threads 1`.

Within a table all systems have the same pairs, subwords, sizes, batches, loss and kind of schedule, and about the same time: **each trains
as many epochs as were found to fit into the time named in the heading, on one processor core of one kind**, its learning rate falling to 0 by then; what a
system has taken is beside it. Settings were chosen by the perplexity on validation pairs of Multi30k after one to four epochs, in trials that were not
recorded: for HyboNet (learning rate, dropout, form of the blocks, starts of weights; [why](../decisions/0011-blocks-that-add.md)) in about twenty-five, for
the Transformer (learning rate, place of the norms, dropout) in about ten; HAtt has the Transformer's, and those of the others are not tuned ([settings](../../scripts/translation_cells.py)). With 128 coordinates the
Transformer has half the rate that it has with 64, by the perplexity on validation pairs after a whole training each; HyboNet keeps its own. The epoch with the lowest
perplexity on validation pairs is the one tested, once, with beam 4; where epochs are averaged, the mean, if its perplexity is lower. BLEU and chrF are sacreBLEU's, of plain text; tokenised BLEU is of lowercased
Moses tokens, which is the paper's convention. The text of IWSLT'14 is lowercased and tokenised as it comes, so that its BLEU and chrF are of
lowercased text put together again, and not comparable with those of text with capitals. The number of epochs was fixed beforehand, by the speed of a
quiet core of one kind; minutes are the processor's, of several kinds over the runs, or, where "(clock)" says so, what an older run took on a core shared with
other work: they are not comparable.
Training pairs with a sentence over the limit are left out, and longer sentences of validation and test pairs are cut there for the model; each record counts both.
"""


def spread(found: list[dict[str, Any]], part: str, key: str, decimals: int = 1) -> str:
    """Mean and deviation of one figure."""
    return Spread.of([record[part][key] for record in found]).text(decimals)


def trained(cell: str) -> bool:
    """Whether any of its systems was."""
    return any(of_experiment("translation", f"{cell}-{system}") for system in LABELS)


def table(cell: str) -> str:
    """All systems of one cell."""
    rows = []
    for system in translation_cells.CELLS[cell].epochs:
        label, found = LABELS[system], of_experiment("translation", f"{cell}-{system}")
        if not found:
            rows.append([label, "not trained yet", *"–––––––"])
            continue
        first = found[0]
        rows.append(
            [
                label,
                str(len(found)),
                f"{first['parameters'] / 1e6:.2f}M",
                str(first["epochs"]),
                Spread.of([worked_seconds(record) / 60 for record in found]).text(1).partition(" ")[0] + clock(first),
                spread(found, "valid", "perplexity", 2),
                spread(found, "test", "bleu"),
                spread(found, "test", "tokenized_bleu"),
                spread(found, "test", "chrf"),
            ]
        )
    head = ["system", "seeds", "parameters", "epochs", "minutes", "perplexity, valid", "BLEU", "tokenised BLEU", "chrF"]
    return markdown_table(head, rows)


def order(cell: str) -> str:
    """The systems of one cell by tokenised BLEU, best first, in a line."""
    found = {
        system: of_experiment("translation", f"{cell}-{system}") for system in translation_cells.CELLS[cell].epochs
    }
    means = {
        LABELS[system]: Spread.of([record["test"]["tokenized_bleu"] for record in records]).mean
        for system, records in found.items()
        if records
    }
    ranked = sorted(means, key=means.__getitem__, reverse=True)
    name = translation_cells.CELLS[cell].heading
    return f"- {name}: " + ", ".join(f"{label} {means[label]:.1f}" for label in ranked)


def summary() -> str:
    """The order of the systems in every table."""
    lines = "\n".join(order(cell) for cell in translation_cells.CELLS if trained(cell))
    return f"""
## In short

Tokenised BLEU, best first. HyboNet is ahead of the Transformer with 64 coordinates, on Multi30k by about as much as seeds
differ; with 128 they are level, after forty minutes and after eighty.
ConvSeq2Seq, whose epochs take the least time, is ahead of both in every
table that has it: the time is short for all.

{lines}
"""


def clock(record: dict[str, Any]) -> str:
    """A mark of records that know their time by the clock alone."""
    return "" if "processor_seconds" in record["validations"][-1] else " (clock)"


def image(cell: str) -> Path:
    """Where the picture of one cell lies."""
    return ROOT / f"docs/images/perplexity-{cell}.png"


def steps_an_epoch(cell: str) -> int | None:
    """The same for all systems of a cell, and known to records made since they count updates."""
    for system in LABELS:
        for record in of_experiment("translation", f"{cell}-{system}"):
            first = record["validations"][0]
            if "updates" in first:
                return first["updates"] // first["epoch"]
    return None


def draw_perplexity(cell: str) -> None:
    """Perplexity on validation pairs by steps and by minutes, a line a system."""
    found = {label: of_experiment("translation", f"{cell}-{system}") for system, label in LABELS.items()}
    figure = new_figure((9.6, 4.8), 120, f"{cell}: perplexity on validation pairs, first seed")
    left, right = figure.subplots(1, 2, sharey=True)
    steps = steps_an_epoch(cell)
    plain_axes(left, "steps" if steps else "epoch", "perplexity")
    plain_axes(right, "minutes", "")
    for colour, (label, runs) in zip(GROUP_COLOURS, found.items(), strict=False):
        if runs:
            rows = runs[0]["validations"]
            values = [row["perplexity"] for row in rows]
            name = label.strip("*") + clock(runs[0])
            left.plot(
                [row["epoch"] * (steps or 1) for row in rows],
                values,
                color=colour,
                label=name,
                marker="o",
                markersize=3,
            )
            right.plot([worked_seconds(row) / 60 for row in rows], values, color=colour, marker="o", markersize=3)
    for axes in (left, right):
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter("{x:g}")
    figure.subplots_adjust(bottom=0.25)
    figure.legend(*left.get_legend_handles_labels(), loc="lower center", ncols=3, frameon=False, labelcolor=INK)
    figure.savefig(image(cell))


def speed() -> str:
    """Training and decoding against the Transformer, and what the cache saves, if measured."""
    records = [json.loads(path.read_text(encoding="utf-8")) for path in SPEEDS if path.exists()]
    if not records:
        return ""
    found = {(row["topic"], row["case"]): row for record in records for row in record["rows"]}
    before = [
        f"{row['ratio']:.2f}× ({row['case']})"
        for row in records[0]["rows"]
        if found[row["topic"], row["case"]] is not row
    ]
    measured_before = f" Measured before, with the rest: {', '.join(before)}." if before else ""
    rows = [
        [topic, case, *(_figure(row, side) for side in ("ours", "peer")), f"{row['ratio']:.2f}×", _target(row)]
        for (topic, case), row in found.items()
    ]
    at_best = {}
    for dim in translation_sizes(found):
        training = [row for (_, case), row in found.items() if case.startswith(f"d={dim},") and "training" in case]
        at_best[dim] = max(row["ours"] for row in training) / max(row["peer"] for row in training)
    each_at_best = " and ".join(f"{share:.2f} of its speed with d = {dim}" for dim, share in at_best.items())
    threads = " and ".join(dict.fromkeys(str(record["threads"]) for record in records))
    processors = " and (beam search) ".join(dict.fromkeys(f"an {record['processor']}" for record in records))
    return f"""
## Speed

Sentences of 20 to 28 tokens, vocabularies of 10,000, the paper's sizes, with {threads} thread(s) on
{processors}, the sides of a row alternating in one run ([how](../../benchmarks/translation.py)). Again with
`python -m benchmarks --only translation --out benchmarks/results`, and the same with `--only decoding`, by which beam search was measured again after its
steps had fewer operations.{measured_before}

{markdown_table(["ours / peer", "case", "ours", "peer", "ratio", "target"], rows)}

Compiling does not make every model quicker on a processor. HyboNet at its best, compiled or not, against the Transformer at its best trains at
{each_at_best}.
"""


def translation_sizes(found: dict[tuple[str, str], Any]) -> list[str]:
    """The numbers of coordinates that speeds were measured with."""
    return list(dict.fromkeys(case.partition(",")[0].removeprefix("d=") for _, case in found))


def _target(row: dict[str, Any]) -> str:
    return f"{row['target']}, {'met' if row['met'] else 'missed'}" if row["target"] else ""


def _figure(row: dict[str, Any], side: str) -> str:
    return f"{row[side]:,.0f} {row['unit']}"


def precision() -> str:
    """The first steps of HyboNet in float32 and in bfloat16."""
    found = {name: of_experiment("translation", f"precision-{name}") for name in translation_cells.PRECISIONS}
    if not all(found.values()):
        return ""
    rows, losses = [], []
    for name, (record, *_) in found.items():
        training, held_out = record["validations"][-1]["loss"], math.log(record["valid"]["perplexity"])
        rows.append([name, str(record["validations"][-1]["updates"]), f"{training:.4f}", f"{held_out:.4f}"])
        losses.append((training, held_out))
    apart = [100 * abs(other / reference - 1) for reference, other in zip(*losses, strict=True)]
    return f"""
## Half precision

The same training of HyboNet on Multi30k, 64 coordinates, in float32 and with bfloat16 autocast (matrix products in bfloat16, weights and their
averages in float32), same seed, batches and steps. **The losses differ by {apart[0]:.2f} % in training and {apart[1]:.2f} % on validation
pairs**; no value was infinite or NaN, which would have stopped the training. Again with `python scripts/reproduce.py 'precision-*' --threads 1`.

{markdown_table(["precision", "steps", "mean loss in training", "log perplexity, valid"], rows)}
"""


def kills() -> str:
    """Trainings killed and resumed, if tried."""
    if not KILLS.exists():
        return ""
    return f"""
## Killed and resumed

`python scripts/kill_trial.py --task translation` trains on the toy language inside the package, kills the training with SIGKILL at random
moments and resumes it until it finishes: {kill_trial.summary(json.loads(KILLS.read_text(encoding="utf-8")))}
"""


def page() -> str:
    """The whole page as Markdown."""
    parts = [INTRODUCTION, summary()]
    for cell in filter(trained, translation_cells.CELLS):
        about = translation_cells.CELLS[cell]
        parts += [f"## {about.heading}", about.remark, table(cell)]
        parts.append(f"![Perplexity on validation pairs by steps and by minutes](../images/{image(cell).name})")
    parts += [speed(), precision(), kills()]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


if __name__ == "__main__":
    for each in filter(trained, translation_cells.CELLS):
        draw_perplexity(each)
    PAGE.write_text(page(), encoding="utf-8")
    print(PAGE.relative_to(ROOT))
