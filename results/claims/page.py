"""Figures of all tasks, gathered by the claim of the paper that they speak to."""

from __future__ import annotations

from typing import Any

from hybonet.reporting.run_report import Spread, markdown_table
from results.figures import spread, values, worked_seconds
from results.store import Record, records

#: What is measured, the place of its figure in a record, digits, and what it is multiplied by.
Measure = tuple[str, str, int, float]
MRR: Measure = ("MRR", "test.both.mrr", 3, 1)
AUC: Measure = ("ROC AUC", "test.roc_auc", 1, 100)
F1: Measure = ("F1", "test.f1", 1, 100)
MACRO_F1: Measure = ("macro F1", "test.total.f1", 1, 100)
BLEU: Measure = ("tokenised BLEU", "test.tokenized_bleu", 1, 1)

#: Experiments in pairs, HyboNet's first and the other's with its name.
Pair = tuple[str, Measure, str, str, str]
TANGENT: tuple[Pair, ...] = (
    ("WN18RR", MRR, "twenty-wn18rr-hybonet", "twenty-wn18rr-hybonet-tangent", ""),
    ("FB15k-237", MRR, "twenty-fb15k-237-hybonet", "twenty-fb15k-237-hybonet-tangent", ""),
    ("UMLS", MRR, "umls-hybonet", "umls-hybonet-tangent", ""),
    ("Nations", MRR, "nations-hybonet", "nations-hybonet-tangent", ""),
    *(
        (cell, measure, f"{cell}-hybonet-searched-standard", f"{cell}-hybonet-tangent-standard", "")
        for cell, measure in (
            ("disease-lp", AUC), ("airport-lp", AUC), ("cora-lp", AUC),
            ("disease-nc", F1), ("tree-nc", F1), ("airport-nc", F1), ("cora-nc", F1),
        )
    ),
    ("entity typing", MACRO_F1, "typing-hybonet", "typing-hybonet-tangent", ""),
)  # fmt: skip
POINCARE: tuple[Pair, ...] = (
    ("WN18RR", MRR, "twenty-wn18rr-hybonet", "twenty-wn18rr-murp", "MuRP"),
    ("FB15k-237", MRR, "twenty-fb15k-237-hybonet", "twenty-fb15k-237-murp", "MuRP"),
    ("Multi30k, 64 coordinates", BLEU, "multi30k-64-hybonet", "multi30k-64-poincare", "HyperNN++"),
    ("Multi30k, 128 coordinates", BLEU, "multi30k-128-hybonet", "multi30k-128-poincare", "HyperNN++"),
    ("IWSLT'14, de-en", BLEU, "iwslt14-de-en-64-hybonet", "iwslt14-de-en-64-poincare", "HyperNN++"),
    ("entity typing", MACRO_F1, "typing-hybonet", "typing-hy", "HY"),
)
EUCLIDEAN: tuple[Pair, ...] = (
    ("WN18RR", MRR, "twenty-wn18rr-hybonet", "twenty-wn18rr-tucker", "TuckER"),
    ("WN18RR", MRR, "twenty-wn18rr-hybonet", "twenty-wn18rr-mure", "MuRE"),
    ("FB15k-237", MRR, "twenty-fb15k-237-hybonet", "twenty-fb15k-237-tucker", "TuckER"),
    ("Multi30k", BLEU, "multi30k-64-hybonet", "multi30k-64-euclidean", "Transformer, 64"),
    ("Multi30k", BLEU, "multi30k-128-hybonet", "multi30k-128-euclidean", "Transformer, 128"),
    ("Multi30k", BLEU, "multi30k-64-hybonet", "multi30k-128-euclidean", "Transformer, 128"),
    ("entity typing", MACRO_F1, "typing-hybonet", "typing-multitask", "MultiTask"),
)


def parts() -> dict[str, Any]:
    """What page.md has in braces."""
    euclidean = [
        [data, other, *(f"{records(name)[0]['parameters'] / 1e6:.2f}M" for name in names), *shown(measure, *names)]
        for data, measure, *names, other in EUCLIDEAN
    ]
    poincare = [
        [data, other, *shown(measure, *names), f"{times_slower(*names):.1f}×"]
        for data, measure, *names, other in POINCARE
    ]
    tangent = [[data, *shown(measure, *names)] for data, measure, *names, _ in TANGENT]
    return {
        "euclidean": markdown_table(
            ["data", "beside", "parameters", "its", "test figure", "HyboNet", "the other"], euclidean
        ),
        "poincare": markdown_table(
            ["data", "beside", "test figure", "HyboNet", "the other", "its time per epoch"], poincare
        ),
        "tangent": markdown_table(["data", "test figure", "HyboNet", "maps through the tangent space"], tangent),
        "ahead_of_tangent": ahead(TANGENT),
        "grid": records("grid-disease")[0]["rows"],
    }


def shown(measure: Measure, own: str, other: str) -> list[str]:
    """What is measured, and both figures."""
    name, place, digits, times = measure
    return [name, *(spread(records(each), place, digits, times) for each in (own, other))]


def times_slower(own: str, other: str) -> float:
    """How many times as long as HyboNet's an epoch of the other takes."""
    return _epoch(records(other)) / _epoch(records(own))


def ahead(pairs: tuple[Pair, ...]) -> str:
    """In how many of the pairs HyboNet's mean is the higher one."""
    higher = 0
    for _, (_, place, *_), own, other, _ in pairs:
        own_mean, other_mean = (Spread.of(values(records(each), place)).mean for each in (own, other))
        higher += own_mean > other_mean
    return f"{higher} of {len(pairs)}"


def _epoch(found: list[Record]) -> float:
    return Spread.of([worked_seconds(record) / record["epochs"] for record in found]).mean
