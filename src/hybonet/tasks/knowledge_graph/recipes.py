"""Settings for knowledge-graph completion: a default for graphs of any kind, and the paper's."""

from __future__ import annotations

from typing import Any

from hybonet.tasks.knowledge_graph.task import KnowledgeGraphSettings
from hybonet.training import ScheduleSettings
from hybonet.training.ranges import Between, OneOf, Range


def default() -> KnowledgeGraphSettings:
    """For graphs of up to some ten thousand entities: softmax against all of them, entities moved in the chart."""
    return KnowledgeGraphSettings(
        epochs=40,
        batch_size=256,
        lr=0.02,
        label_smoothing=0.1,
        dropout=0.1,
        schedule=ScheduleSettings(kind="exponential", gamma=0.94),
        patience=6,
    )


def sampled(**changes: Any) -> KnowledgeGraphSettings:
    """For tens of thousands of entities: softmax against shared negatives, scored by one matrix product."""
    settings: dict[str, Any] = {
        "negative_sampling": "shared",
        "batch_size": 500,
        "dropout": 0.1,
        "schedule": ScheduleSettings(kind="linear"),
        **changes,
    }
    return KnowledgeGraphSettings(**settings)


def paper(**changes: Any) -> KnowledgeGraphSettings:
    """The paper's training: binary cross-entropy against 50 random tails, Riemannian Adam."""
    settings: dict[str, Any] = {
        "loss": "bce",
        "negative_sampling": "per_triple",
        "negatives": 50,
        "optimizer": "riemannian",
        "loop_bias": False,
        "margin": 8.0,
        "max_norm": 1.5,
        "scale": 2.5,
        "max_grad_norm": 0.5,
        "lr": 0.003,
        "patience": 20,
        **changes,
    }
    return KnowledgeGraphSettings(**settings)


#: What decides how good either training becomes.
_RANGES: dict[str, Range] = {
    "dropout": Between(0.0, 0.3),
    "max_norm": Between(1.0, 2.5),
    "scale": Between(2.0, 5.0),
}
_DEFAULT_RANGES: dict[str, Range] = {
    "lr": Between(0.002, 0.05, log=True),
    "schedule.gamma": Between(0.88, 0.99),
    "batch_size": OneOf((128, 256, 512, 1024)),
    "label_smoothing": Between(0.0, 0.3),
    **_RANGES,
}
_SAMPLED_RANGES: dict[str, Range] = {
    "lr": Between(0.005, 0.1, log=True),
    "batch_size": OneOf((250, 500, 1000, 2000)),
    "negatives": OneOf((500, 1000, 2000, 4000)),
    "label_smoothing": Between(0.0, 0.3),
    "logit_scale": Between(0.4, 1.5, log=True),
    **_RANGES,
}
_PAPER_RANGES: dict[str, Range] = {
    "lr": Between(0.001, 0.02, log=True),
    "batch_size": OneOf((250, 500, 1000)),
    "negatives": OneOf((25, 50, 100, 200)),
    "margin": Between(4.0, 12.0),
    "max_grad_norm": OneOf((0.5, 1.0, None)),
    **_RANGES,
}

_OWN_WN18RR: dict[str, Any] = {
    "negatives": 2000,
    "lr": 0.03,
    "label_smoothing": 0.1,
    "scale": 3.5,
    "logit_scale": 0.7,
    "symmetric_logit_scale": 1.5,
    "tie_symmetric": True,
    "init_std": 0.004,
    "inverse_weight": 0.4,
    "inverse_power": 0.75,
    "validate_every": 10,
}
#: A step is dear, so that there are few; either direction is better by itself, and needs less of the other.
_AT_500 = {"dim": 500, "batch_size": 1000, "lr": 0.01, "inverse_weight": 0.1, "validate_every": 5}
_OWN_FB15K237: dict[str, Any] = {
    "epochs": 40,
    "negatives": 2000,
    "lr": 0.01,
    "filter_negatives": True,
    "inverse_weight": 0.25,
    "inverse_power": 0.2,
    "validate_every": 5,
}
_WN18RR = {"batch_size": 1000, "epochs": 1000, "validate_every": 10}
_FB15K237 = {"batch_size": 500, "epochs": 500, "validate_every": 5}

#: The paper's figures: MRR, and hits at 10, 3 and 1.
_PUBLISHED = {
    ("WN18RR", 32): (0.489, 0.553, 0.503, 0.455),
    ("WN18RR", 500): (0.513, 0.569, 0.527, 0.482),
    ("FB15k-237", 32): (0.334, 0.516, 0.365, 0.244),
    ("FB15k-237", 500): (0.352, 0.529, 0.387, 0.263),
}
_WN18RR_RANGES: dict[str, Range] = {**_SAMPLED_RANGES, "symmetric_logit_scale": Between(0.7, 3.0, log=True)}


def _compared(
    about: str, data: str, dim: int, settings: KnowledgeGraphSettings, ranges: Any, **more: Any
) -> dict[str, Any]:
    """A recipe with the paper's figures beside it."""
    figures = dict(zip(("mrr", "hits@10", "hits@3", "hits@1"), _PUBLISHED[data, dim], strict=True))
    return {"about": about, "settings": settings, "data": data, "published": figures, "ranges": ranges, **more}


def _of_the_paper(data: str, dim: int, **changes: Any) -> dict[str, Any]:
    settings = paper(**(_WN18RR if data == "WN18RR" else _FB15K237), dim=dim, **changes)
    return _compared(f"the paper's settings, {dim} ambient coordinates", data, dim, settings, _PAPER_RANGES)


RECIPES: dict[str, dict[str, Any]] = {
    "default": {
        "about": "any graph of up to some ten thousand entities, a minute or two",
        "settings": default(),
        "ranges": _DEFAULT_RANGES,
    },
    "wn18rr-32": _compared(
        "32 ambient coordinates: a soft loss for hypernyms, sharp for symmetric relations; both directions",
        "WN18RR",
        32,
        sampled(**_OWN_WN18RR, epochs=150),
        _WN18RR_RANGES,
    ),
    "wn18rr-32-distilled": _compared(
        "the same, distilled from runs of wn18rr-32 (--teacher)",
        "WN18RR",
        32,
        sampled(**_OWN_WN18RR, epochs=100),
        _WN18RR_RANGES,
        distilled=True,
    ),
    "wn18rr-500": _compared(
        "wn18rr-32 with 500 ambient coordinates: 82 MB of entities, about twenty minutes on one core",
        "WN18RR",
        500,
        sampled(**_OWN_WN18RR | _AT_500, epochs=30),
        _WN18RR_RANGES,
    ),
    "fb15k237-32": _compared(
        "ahead of the paper at 32 ambient coordinates: other right answers are no candidates",
        "FB15k-237",
        32,
        sampled(**_OWN_FB15K237),
        _SAMPLED_RANGES,
    ),
    "comparison": {
        "about": "to compare models on tens of thousands of entities, for equal times by epochs of their own",
        "settings": sampled(epochs=100, negatives=1000, lr=0.01, label_smoothing=0.1, validate_every=10),
        "ranges": _SAMPLED_RANGES,
    },
    "paper-wn18rr-32": _of_the_paper("WN18RR", 32, scale=3.5, lr=0.005),
    "paper-wn18rr-500": _of_the_paper("WN18RR", 500, max_norm=2.5),
    "paper-fb15k237-32": _of_the_paper("FB15k-237", 32),
    "paper-fb15k237-500": _of_the_paper("FB15k-237", 500),
}
