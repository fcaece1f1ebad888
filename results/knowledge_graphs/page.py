"""Tables of records beside the paper's figures and beside each other."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import Any

from hybonet.reporting.run_report import Spread, experiments, markdown_table, report_rows
from hybonet.tasks.base import headline_of
from hybonet.tasks.run import renewed
from results.figures import NOTHING, spread, thousandths, values, worked_minutes, worked_seconds
from results.knowledge_graphs import speed
from results.knowledge_graphs.cells import ABLATIONS, COMPARISONS, MODELS, SHORT, SHORTER, SMALL
from results.store import Record, chosen, records
from results.trials import kill

#: The paper's table at 32 dimensions (large dimensions for the first six): MRR on WN18RR and FB15k-237.
PAPER = {
    "TransE": (0.227, 0.280),
    "DistMult": (0.415, 0.193),
    "ComplEx": (0.432, 0.257),
    "ConvE": (0.435, 0.304),
    "RotatE": (0.473, 0.301),
    "TuckER": (0.461, 0.347),
    "MuRP": (0.465, 0.323),
    "RotH": (0.472, 0.314),
    "AttH": (0.466, 0.324),
    "hybonet": (0.489, 0.334),
}
#: The paper's figures at 500 dimensions.
PAPER_500 = {"WN18RR": 0.513, "FB15k-237": 0.352}
_MRR = "test.both.mrr"
_RELEASED = "test_released_protocol.mrr"
_ONE_READING = "test_one_reading.mrr"
_HEADER = ["data", "training", "seeds", "test MRR", "by one reading", "released protocol", "minutes on one core"]


def parts() -> dict[str, Any]:
    """What page.md has in braces."""
    both = {"valid": "valid.mrr", "test": _MRR}
    derivation, hypernym = (
        f"test.by_relation.{relation}.mrr" for relation in ("_derivationally_related_form", "_hypernym")
    )
    return {
        "recipes": recipes(),
        "reached": reached(),
        "at_500": at_500(),
        "rates": rates(),
        "models": models(),
        "in_order": in_order(),
        "apart": thousandths(apart()),
        "still_learning": ", ".join(still_learning()),
        "small": small(),
        "short": changed("short", SHORT, both | {"derivation": derivation, "hypernym": hypernym}),
        "ablations": changed("ablation", ABLATIONS, both | {"released": _RELEASED}),
        "leak": "\n\n".join(leak("leak-" + graph) for graph in ("WN18RR", "wordnet")),
        "kills": kill.summary(records("kill-kg")[0]),
        **speed.parts(),
    }


def recipes() -> str:
    """The recipes for the two benchmarks, one row each."""
    rows = []
    for place, (data, name) in enumerate((("WN18RR", "wn18rr-32"), ("FB15k-237", "fb15k237-32"))):
        rows.append(_published(data, PAPER["hybonet"][place]))
        rows.append(_trained(data, f"the paper's settings: `paper-{name}`", f"paper-{name}"))
        rows.append(_trained(data, f"`{name}`", name))
        if taught := records(f"{name}-taught"):
            rows.append(_trained(data, f"`{name}-taught`: learns from {_teachers(taught)}", f"{name}-taught"))
    return markdown_table(_HEADER, rows)


def at_500() -> str:
    """What is trained at the paper's larger size."""
    rows = []
    for data, recipe in (("WN18RR", "wn18rr-500"), ("FB15k-237", "fb15k237-500")):
        rows.append(_published(data, PAPER_500[data]))
        rows += [_trained(data, f"`{name}`", name) for name in (f"paper-{recipe}", recipe) if records(name)]
    return markdown_table(_HEADER, rows)


def _published(data: str, figure: float) -> list[str]:
    easier = "easier protocol, leaked negatives" if data == "WN18RR" else "easier protocol"
    return [data, f"the paper's figure ({easier})", NOTHING, NOTHING, NOTHING, thousandths(figure), NOTHING]


def _trained(data: str, label: str, name: str) -> list[str]:
    found = records(name)
    if not found:
        return [data, label, "not trained yet", *[NOTHING] * 4]
    one = spread(found, _ONE_READING) if "test_one_reading" in found[0] else "the same"
    minutes = f"{worked_minutes(found):.0f}"
    return [data, label, str(len(found)), spread(found, _MRR), one, spread(found, _RELEASED), minutes]


def _teachers(found: list[Record]) -> str:
    """Whom records name as teachers, in words."""
    runs = max((record["teachers"] for record in found), key=len)
    names = sorted({teacher["run"].rpartition("-seed")[0] for teacher in runs})
    number = "a run" if len(runs) == 1 else f"{len(runs)} runs"
    return f"{number} of {' and '.join(f'`{name}`' for name in names)}, whose time comes before"


def reached() -> str:
    """When validation first came up to the paper's test figure."""
    lines = []
    for place, name in ((0, "wn18rr-32"), (0, "wn18rr-32-taught"), (1, "fb15k237-32")):
        figure = PAPER["hybonet"][place]
        for record in records(name):
            course = record["validations"]
            if first := next((row for row in course if row["mrr"] >= figure), None):
                minutes = f"{worked_seconds(first) / 60:.0f} minutes (epoch {first['epoch']})"
                said = f"reaches the paper's {thousandths(figure)} on validation after {minutes}"
            else:
                best = thousandths(max(row["mrr"] for row in course))
                said = f"does not reach the paper's {thousandths(figure)} on validation: its best is {best}"
            lines.append(f"- `{name}`, seed {record['seed']}, {record['threads']} thread(s): {said}.")
    return "\n".join(lines)


def rates() -> str:
    """How the learning rates were found."""
    told = []
    shorter = f"trials of a {SHORTER}th of the training, at least two epochs"
    for cells, words in ((("twenty-wn18rr", "twenty-fb15k-237"), shorter), (("umls", "nations"), "whole trainings")):
        names = " and ".join(COMPARISONS[cell].data for cell in cells)
        tried = COMPARISONS[cells[0]].rates
        found = [chosen(f"{cell}-{model.lower()}") for cell in cells for model in MODELS]
        assert all(found), f"the rates of some models on {names} have not been searched for"
        written = ", ".join(thousandths(rate).rstrip("0") for rate in tried)
        largest = found.count((f"lr={max(tried)}",))
        told.append(
            f"**On {names} every model has the learning rate that did best on validation triples**, of {written} in "
            f"{words} ([searches](records/searches)). In {largest} of {len(found)} searches that is the largest: more "
            "might suit some better."
        )
    return "\n".join(told)


def models() -> str:
    """Every model under the same loop, data and evaluation."""
    label = {"hybonet": "**HyboNet**", "hybonet-tangent": "HyboNet, tangent-space maps"}
    rows = []
    for model in (*[m for m in PAPER if m != "hybonet"], "MuRE", "hybonet-tangent", "hybonet"):
        cells = [label.get(model, model)]
        for place, cell in enumerate(("twenty-wn18rr", "twenty-fb15k-237")):
            found = records(f"{cell}-{model.lower()}")
            size = f"{found[0]['parameters'] / 1e6:.2f}M" if found else NOTHING
            minutes = f"{worked_seconds(found[0]) / 60:.0f}" if found else NOTHING
            published = thousandths(PAPER[model][place] if model in PAPER else None)
            cells += [spread(found, _MRR), minutes, size, published]
        cells += [spread(records(f"{cell}-{model.lower()}"), _MRR) for cell in ("umls", "nations")]
        rows.append(cells)
    without = [spread(records(f"{cell}-without-loop-bias"), _MRR) for cell in ("umls", "nations")]
    rows.insert(-1, ["HyboNet without loop bias", *[NOTHING] * 8, *without])
    large = [heading for data in ("WN18RR", "FB15k-237") for heading in (data, "minutes", "parameters", "the paper")]
    return markdown_table(["model", *large, "UMLS", "Nations"], rows)


def in_order() -> str:
    """The models by their figures, best first."""
    lines = []
    names = {"hybonet": "**HyboNet**", "hybonet-tangent": "with tangent-space maps"}
    for cell, about in COMPARISONS.items():
        found = {model: values(records(f"{cell}-{model.lower()}"), _MRR) for model in MODELS}
        means = {model: statistics.fmean(figures) for model, figures in found.items() if figures}
        ranked = sorted(means, key=means.__getitem__, reverse=True)
        told = ", ".join(f"{names.get(model, model)} {thousandths(means[model])}" for model in ranked)
        lines.append(f"- {about.data}, best first: {told}.")
    return "\n".join(lines)


def apart() -> float:
    """What one seed is worth on the two benchmarks."""
    both = [values(records(name), _ONE_READING) for name in ("wn18rr-32", "fb15k237-32")]
    return max(max(figures) - min(figures) for figures in both)


def still_learning() -> list[str]:
    """The models that were at their best in the last eighth of their epochs in every run on Nations."""
    found = {model: records(f"nations-{model.lower()}") for model in MODELS}
    return sorted(
        model
        for model, runs in found.items()
        if runs and all(record["best_epoch"] > 7 / 8 * record["epochs"] - 1 for record in runs)
    )


def small() -> str:
    """As `hybonet report` has them."""
    found = [renewed(record) | {"source": record["run"]} for name in SMALL for record in records(name)]
    return markdown_table(*report_rows(experiments(found, headline_of)))


def changed(kind: str, about: Mapping[str, tuple[str, ...]], measures: Mapping[str, str]) -> list[dict[str, Any]]:
    """What changing one thing at a time gave, a row each: measures by the name of their column."""
    return [
        {"words": words, "seconds": 60 * worked_minutes(found)}
        | {column: spread(found, measure) for column, measure in measures.items()}
        for name, (words, *_) in about.items()
        if (found := records(f"{kind}-{name}"))
    ]


def leak(name: str) -> str:
    """What the released code's two habits are worth on one graph."""
    [record] = records(name)
    kinds = {"train": "the training triples (ours)", "all": "all triples, test too (released)"}
    found = {
        (kind, protocol): Spread.of(
            [row["test_mrr"][protocol] for row in record["rows"] if row["negatives_filtered_by"] == kind]
        )
        for kind in kinds
        for protocol in ("standard", "released")
    }
    rows = [[words, str(found[kind, "standard"]), str(found[kind, "released"])] for kind, words in kinds.items()]
    header = ["negatives filtered by", "test MRR, standard", "with the head masked (released)"]
    data = record["data"]["source"]
    text = f"{data}, {len(record['rows']) // 2} seed(s):\n\n{markdown_table(header, rows)}"
    if data == "WN18RR":
        worth, figure = found["all", "released"].mean - found["train", "standard"].mean, PAPER["hybonet"][0]
        text += (
            f"\n\nBoth together are worth {thousandths(worth)} here: the paper's {thousandths(figure)}, which has "
            f"both, would be about {thousandths(figure - worth)} without, if they are worth as much in its training, "
            "which has another optimiser, rate and length."
        )
    return text
