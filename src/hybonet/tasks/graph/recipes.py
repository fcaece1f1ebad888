"""Settings for graph learning: defaults for graphs of any kind, and the paper's."""

from __future__ import annotations

from typing import Any

from hybonet.tasks.graph.settings import GraphSettings
from hybonet.training.ranges import Between, OneOf, Range

#: The recipe that each task starts from.
DEFAULTS = {"lp": "graph-lp", "nc": "graph-nc"}


def links(**changes: Any) -> GraphSettings:
    """Missing links: pairs must be apart by a margin, the decoder being fitted afterwards."""
    settings: dict[str, Any] = {
        "task": "lp", "loss": "margin", "margin": 10.0, "layers": 2, "lr": 0.01, "max_grad_norm": 1.0, "epochs": 600,
        "validate_every": 10, "patience": 20, **changes,
    }  # fmt: skip
    return GraphSettings(**settings)


def classes(**changes: Any) -> GraphSettings:
    """Classes of nodes by their distances to class points, by a margin."""
    settings: dict[str, Any] = {
        "task": "nc", "loss": "margin", "margin": 2.0, "layers": 2, "lr": 0.01, "max_grad_norm": 1.0, "epochs": 600,
        "activation": "relu", "validate_every": 5, "patience": 40, **changes,
    }  # fmt: skip
    return GraphSettings(**settings)


def paper(task: str, **changes: Any) -> GraphSettings:
    """The paper's settings with the losses of its code, which its tables were made by; its protocol is ``paper_code``.

    The code counts the output as a layer of node classification: the paper's 4 layers are 3 here.
    """
    settings: dict[str, Any] = {
        "task": task, "loss": "margin", "time_gate": "paper_code", "decoupled_weight_decay": True,
        "protocol": "paper_code", "epochs": 5000, "validate_every": 5, "patience": 100, **changes,
    }  # fmt: skip
    return GraphSettings(**settings)


_RANGES: dict[str, Range] = {
    "lr": Between(0.002, 0.05, log=True),
    "weight_decay": OneOf((0.0, 0.0001, 0.0002, 0.001, 0.002, 0.01)),
    "dropout": Between(0.0, 0.9),
    "layers": OneOf((1, 2, 3, 4, 5)),
    "scale": Between(2.0, 20.0, log=True),
    "margin": Between(0.1, 30.0, log=True),
    "input_radius": OneOf((None, 1.0, 3.0)),
    "max_grad_norm": OneOf((0.5, 1.0, None)),
}


def _of_the_paper(data: str, task: str, figure: float, **changes: Any) -> dict[str, Any]:
    return {
        "about": f"the paper's settings for {'links' if task == 'lp' else 'classes'}, 16 ambient coordinates",
        "settings": paper(task, **changes),
        "data": data,
        "published": {"roc_auc" if task == "lp" else "f1": figure},
        "ranges": _RANGES,
    }


def _of_ours(data: str, task: str, figure: float | None, **changes: Any) -> dict[str, Any]:
    """Settings chosen by hand on validation figures, at the paper's sizes; the figure is the paper's."""
    return {
        "about": f"ours for {'links' if task == 'lp' else 'classes'} of {data}, 16 ambient coordinates",
        "settings": links(**changes) if task == "lp" else classes(**changes),
        "data": data,
        "published": {} if figure is None else {"roc_auc" if task == "lp" else "f1": figure},
        "ranges": _RANGES,
    }


RECIPES: dict[str, dict[str, Any]] = {
    "graph-lp": {
        "about": "missing links of any graph; a minute for some thousand nodes",
        "settings": links(),
        "ranges": _RANGES,
    },
    "graph-nc": {
        "about": "classes of nodes of any graph; a minute for some thousand nodes",
        "settings": classes(),
        "ranges": _RANGES,
    },
    "graph-large-lp": {
        "about": "missing links of up to some million nodes, neighbours sampled",
        "settings": links(batch_size=4096, fan_out=8, epochs=5, validate_every=1, patience=2),
        "ranges": _RANGES,
    },
    "graph-large-nc": {
        "about": "classes of up to some million nodes, neighbours sampled",
        "settings": classes(batch_size=1024, fan_out=8, epochs=20, validate_every=1, patience=4),
        "ranges": _RANGES,
    },
    "disease-lp": _of_ours(
        "disease_lp", "lp", 0.968, lr=0.005, margin=30.0, epochs=2000, patience=60, max_grad_norm=None
    ),
    "disease-nc": _of_ours("disease_lp", "nc", None, loss="cross_entropy", lr=0.01, layers=4, validate_every=10),
    "airport-lp": _of_ours(
        "airport", "lp", 0.973, lr=0.01, weight_decay=0.0002, margin=10.0, max_grad_norm=0.5, epochs=1500, patience=50
    ),
    "airport-nc": _of_ours(
        "airport", "nc", 0.909, lr=0.02, weight_decay=0.0001, layers=4, epochs=2000, validate_every=10
    ),
    "cora-lp": _of_ours(
        "cora",
        "lp",
        0.936,
        loss="cross_entropy",
        learn_decoder=True,
        lr=0.02,
        weight_decay=0.001,
        dropout=0.6,
        max_grad_norm=0.5,
    ),
    "cora-nc": _of_ours(
        "cora",
        "nc",
        0.802,
        loss="cross_entropy",
        lr=0.01,
        weight_decay=0.001,
        dropout=0.7,
        epochs=300,
    ),
    "pubmed-lp": _of_ours(
        "pubmed",
        "lp",
        0.958,
        loss="cross_entropy",
        learn_decoder=True,
        lr=0.02,
        dropout=0.5,
        max_grad_norm=0.5,
    ),
    "pubmed-nc": _of_ours(
        "pubmed",
        "nc",
        0.780,
        loss="cross_entropy",
        lr=0.01,
        weight_decay=0.001,
        dropout=0.7,
        epochs=120,
    ),
    "paper-disease-lp": _of_the_paper("disease_lp", "lp", 0.968, lr=0.005, margin=30.0),
    "paper-disease-nc": _of_the_paper(
        "disease_nc", "nc", 0.960, lr=0.005, dropout=0.1, layers=3, margin=2.0, max_grad_norm=0.5
    ),
    "paper-airport-lp": _of_the_paper(
        "airport", "lp", 0.973, lr=0.01, weight_decay=0.002, margin=2.0, max_grad_norm=0.5
    ),
    "paper-airport-nc": _of_the_paper(
        "airport", "nc", 0.909, lr=0.02, weight_decay=0.0001, layers=5, margin=2.0, max_grad_norm=1.0, activation="relu"
    ),
    "paper-pubmed-lp": _of_the_paper("pubmed", "lp", 0.958, lr=0.008, dropout=0.5, margin=0.3, max_grad_norm=0.5),
    "paper-pubmed-nc": _of_the_paper(
        "pubmed", "nc", 0.780, lr=0.02, weight_decay=0.001, dropout=0.8, margin=1.0, max_grad_norm=0.5
    ),
    "paper-cora-lp": _of_the_paper(
        "cora", "lp", 0.936, lr=0.02, weight_decay=0.001, dropout=0.7, margin=0.1, max_grad_norm=0.5
    ),
    "paper-cora-nc": _of_the_paper(
        "cora", "nc", 0.802, lr=0.02, weight_decay=0.01, dropout=0.9, margin=1.0, max_grad_norm=1.0
    ),
}
