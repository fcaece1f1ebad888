"""Measures of links and classes on held-out parts of a graph."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from hybonet.data.graphs.graph_data import GraphData, NodeSplit
from hybonet.data.graphs.splits import LinkSplit
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


def held_out_pairs(split: LinkSplit, name: SplitName) -> tuple[Tensor, Tensor]:
    """Links of a part, and the pairs without a link that they are told from."""
    return (split.valid, split.valid_negatives) if name == "valid" else (split.test, split.test_negatives)


def held_out_nodes(split: NodeSplit, name: SplitName) -> Tensor:
    """Nodes of a part."""
    return split.valid if name == "valid" else split.test


def is_binary(graph: GraphData) -> bool:
    """Whether classes are yes and no, as in Disease: F1 is then that of the second class."""
    return len(graph.classes) == 2
