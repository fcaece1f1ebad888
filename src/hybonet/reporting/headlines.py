"""What a report shows of each task's records: the measures that count, where records keep them, and what they mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Measure:
    """A number of a record, and how it is written.

    Example:
        >>> Measure("MRR", ("test", "both", "mrr")).of({"test": {"both": {"mrr": 0.5}}})
        0.5
        >>> Measure("MRR", ("test", "both", "mrr")).of({"valid": {"mrr": 0.5}}) is None
        True
    """

    header: str
    path: tuple[str, ...]
    decimals: int = 3

    @property
    def name(self) -> str:
        """Where it stands in a record, in one word."""
        return ".".join(self.path)

    def of(self, record: Mapping[str, Any]) -> float | None:
        """The number, or None if the record has none, as that of a run without test data."""
        value = look_up(record, *self.path)
        return float(value) if isinstance(value, int | float) else None


@dataclass(frozen=True)
class Headline:
    """What a table says of runs of one kind."""

    title: str
    #: What the headers mean.
    note: str
    #: Columns that tell runs apart, data and recipe aside: where they stand in a record.
    details: Mapping[str, tuple[str, ...]]
    #: Columns of numbers, the most important first.
    measures: tuple[Measure, ...]
    #: The measure of the validation data, for runs without test data; None if nothing is held out.
    validation: Measure | None = None


_MODEL = {"model": ("settings", "model")}
_DIM = {"dim": ("settings", "dim")}
_TYPING = Headline(
    "Entity typing",
    "Test mentions, macro F1 of all types and by level, types above one half. tuned: of all types, above the threshold "
    "that the validation data chooses.",
    _MODEL | _DIM,
    (Measure("total F1", ("test", "total", "f1")),),
    Measure("valid F1", ("valid", "total", "f1")),
)
_GRAPH = _MODEL | _DIM | {"protocol": ("protocol",)}
_LEAK = "Protocol paper_code: that of the published code, which leaks; compare it with nothing else."

_LINKS = Headline(
    "Links of graphs",
    f"Held-out edges against as many pairs without. AP: average precision. {_LEAK}",
    _GRAPH,
    (Measure("ROC AUC", ("test", "roc_auc")), Measure("AP", ("test", "average_precision"))),
    Measure("valid AUC", ("valid", "roc_auc")),
)
_CLASSES = Headline(
    "Classes of nodes",
    f"Test nodes. F1: of the second class if there are two, else micro. {_LEAK}",
    _GRAPH,
    (
        Measure("F1", ("test", "f1")),
        Measure("macro F1", ("test", "macro_f1")),
        Measure("accuracy", ("test", "accuracy")),
    ),
    Measure("valid F1", ("valid", "f1")),
)
_OTHERS = {
    "kg": Headline(
        "Knowledge graphs",
        "Test triples, filtered ranking both ways, ties realistic. paper_code: MRR by the protocol of the paper's code "
        "(easier).",
        _MODEL | _DIM,
        (
            Measure("MRR", ("test", "both", "mrr")),
            *(Measure(f"H@{k}", ("test", "both", f"hits@{k}")) for k in (1, 3, 10)),
            Measure("paper_code", ("test_paper_code", "mrr")),
        ),
        Measure("valid MRR", ("valid", "mrr")),
    ),
    "hierarchy": Headline(
        "Hierarchies",
        "All ancestors ranked among the other nodes (reconstruction: nothing is held out). rank: mean, best 1. MAP: "
        "mean average precision.",
        _DIM,
        (
            Measure("rank", ("metrics", "mean_rank"), decimals=2),
            Measure("MAP", ("metrics", "mean_average_precision")),
        ),
    ),
    "translation": Headline(
        "Translation",
        "Test sentences. BLEU and chrF: sacreBLEU's, of plain text. tok. BLEU: of lowercased Moses tokens, the paper's "
        "convention. ppl: perplexity of the references, lower is better.",
        {"direction": ("data", "direction"), **_MODEL, **_DIM},
        (
            Measure("BLEU", ("test", "bleu"), decimals=2),
            Measure("tok. BLEU", ("test", "tokenized_bleu"), decimals=2),
            Measure("chrF", ("test", "chrf"), decimals=2),
            Measure("ppl", ("test", "perplexity"), decimals=2),
        ),
        Measure("valid ppl", ("valid", "perplexity"), decimals=2),
    ),
    "probe": Headline(
        "Probes",
        "Test sentences, the layer that is best on validation data. UUAS: share of the trees' edges found. Root: share "
        "of roots found. Dspr, Nspr: rank correlation of distances and of depths.",
        {
            "encoder": ("encoder", "name"),
            "probe": ("settings", "probe"),
            "control": ("settings", "control"),
            "layer": ("best_layer",),
        },
        tuple(Measure(name, ("test", name.lower())) for name in ("UUAS", "Dspr", "Root", "Nspr")),
        Measure("valid UUAS", ("valid", "uuas")),
    ),
}
#: The tasks whose records can be reported.
TASKS = ("kg", "hierarchy", "graph", "translation", "typing", "probe")


def headline_of(record: Mapping[str, Any]) -> Headline:
    """What to show of a record: by its task, for graphs by what is predicted, for typing with the levels of its types.

    Example:
        >>> headline_of({"task": "graph", "test": {"roc_auc": 0.9}}).title
        'Links of graphs'
        >>> [each.header for each in headline_of({"task": "typing", "test": {"total": {}, "coarse": {}}}).measures]
        ['total F1', 'coarse', 'tuned']
    """
    if record["task"] == "graph":
        return _CLASSES if _LINKS.measures[0].of(record) is None else _LINKS
    if record["task"] == "typing":
        levels = (level for level in look_up(record, "test") or () if level != "total")
        by_level = (Measure(level, ("test", level, "f1")) for level in levels)
        tuned = Measure("tuned", ("test_calibrated", "total", "f1"))
        return replace(_TYPING, measures=(*_TYPING.measures, *by_level, tuned))
    return _OTHERS[record["task"]]


def look_up(record: Mapping[str, Any], *path: str) -> Any:
    """What stands at a place of a record, or None."""
    value: Any = record
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
