"""Measures of links and classes on held-out parts of a graph."""

from __future__ import annotations

from typing import Any, Literal

import torch
from torch import Tensor

from hybonet.data.graphs.graph_data import GraphData, NodeSplit
from hybonet.data.graphs.splits import LinkSplit
from hybonet.metrics.bootstrap import f1_intervals, link_intervals, mean_intervals
from hybonet.metrics.calibration import link_probability, reliability
from hybonet.metrics.classification import accuracy, average_precision, f1_score, roc_auc

SplitName = Literal["valid", "test"]


def link_measures(positive: Tensor, negative: Tensor) -> dict[str, float]:
    """ROC AUC, average precision and their mean (by which the published protocol selects) of scores of pairs.

    Example:
        >>> link_measures(torch.tensor([2.0, 1.0]), torch.tensor([0.0, 1.5]))
        {'roc_auc': 0.75, 'average_precision': 0.8333333333333333, 'auc_ap': 0.7916666666666666}
    """
    scores = torch.cat((positive, negative)).float().cpu()
    truth = torch.arange(len(scores)) < len(positive)
    auc, precision = roc_auc(scores, truth), average_precision(scores, truth)
    return {"roc_auc": auc, "average_precision": precision, "auc_ap": 0.5 * (auc + precision)}


def class_measures(logits: Tensor, truth: Tensor, *, binary: bool) -> dict[str, float]:
    """F1 (of class 1 if ``binary``, else micro, which is the accuracy), macro F1 and accuracy of scores of classes.

    Example:
        >>> class_measures(torch.tensor([[0.0, 1.0], [1.0, 0.0]]), torch.tensor([1, 1]), binary=True)["accuracy"]
        0.5
    """
    predicted, truth = logits.argmax(1).cpu(), truth.cpu()
    return {
        "f1": f1_score(predicted, truth, average="binary" if binary else "micro"),
        "macro_f1": f1_score(predicted, truth, average="macro"),
        "accuracy": accuracy(predicted, truth),
    }


def link_details(positive: Tensor, negative: Tensor, *, radius: float, temperature: float) -> dict[str, Any]:
    """The number of cases, intervals, and how far probabilities are from the truth, of squared distances of pairs."""
    scores = -torch.cat((positive, negative)).double().cpu()
    truth = torch.arange(len(scores)) < len(positive)
    weight = torch.where(truth, 1 / len(positive), 1 / len(negative))
    return {
        "cases": len(scores),
        "interval": link_intervals(scores, truth),
        "calibration": reliability(link_probability(-scores, radius, temperature), truth, weight),
    }


def class_details(logits: Tensor, truth: Tensor, *, binary: bool, temperature: float) -> dict[str, Any]:
    """The same of classes; probabilities are those of the predicted ones."""
    best, truth = (logits.double() / temperature).softmax(1).max(1), truth.cpu()
    predicted = best.indices.cpu()
    right = predicted == truth
    found = mean_intervals({"f1": right.double(), "accuracy": right.double()})
    if binary:
        found |= f1_intervals((right & (truth == 1)).double(), (predicted == 1).double(), (truth == 1).double())
    return {"cases": len(truth), "interval": found, "calibration": reliability(best.values, right)}


def held_out_pairs(split: LinkSplit, name: SplitName) -> tuple[Tensor, Tensor]:
    """Links of a part, and the pairs without a link that they are told from."""
    return (split.valid, split.valid_negatives) if name == "valid" else (split.test, split.test_negatives)


def held_out_nodes(split: NodeSplit, name: SplitName) -> Tensor:
    """Nodes of a part."""
    return split.valid if name == "valid" else split.test


def is_binary(graph: GraphData) -> bool:
    """Whether classes are yes and no, as in Disease: F1 is then that of the second class."""
    return len(graph.classes) == 2
