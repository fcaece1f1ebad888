"""Naming the hypernyms of all nouns of WordNet: as :mod:`benchmarks.deep_stacks.hypernyms`, but nothing is dense.

The figure is of two thousand words with ancestors to find, after the last pass.
"""

from __future__ import annotations

import time
from functools import cache

import torch
from torch import Tensor

from benchmarks.deep_stacks.hypernyms import MAPS, Cell, Namer
from hybonet.data import load_hierarchy
from hybonet.optim import RiemannianAdam

BATCH, ASKED = 128, 2000


@cache
def chains() -> list[list[int]]:
    """Of every noun its ancestors by first parents, the parent last."""
    nouns = load_hierarchy("wordnet_nouns")
    found: list[list[int]] = [[] for _ in range(len(nouns))]
    for node in nouns.topological_order:
        for parent in nouns.parents[node][:1]:
            found[node] = [*found[parent], parent]
    return found


def split(seed: int, share: float) -> tuple[list[list[int]], list[list[int]]]:
    """Ancestors that are told of each word, its parent among them, and those that are held out."""
    generator = torch.Generator().manual_seed(seed)
    told, held = [], []
    for chain in chains():
        out = (torch.rand(len(chain), generator=generator) < share).tolist()
        told.append([each for each, is_out in zip(chain, out, strict=True) if not is_out or each == chain[-1]])
        held.append([each for each, is_out in zip(chain, out, strict=True) if is_out and each != chain[-1]])
    return told, held


def loss_of(logits: Tensor, told: list[list[int]], smoothing: float) -> Tensor:
    """Cross-entropy against a target that is even over the told ancestors, and with the smoothing over all words."""
    rows = torch.arange(len(told)).repeat_interleave(torch.tensor([len(each) for each in told]))
    share = torch.tensor([1 / len(each) for each in told])[rows]
    wanted = logits[rows, torch.tensor([each for row in told for each in row])]
    even = logits.new_zeros(len(told)).index_add(0, rows, share * wanted)
    return (logits.logsumexp(1) - (1 - smoothing) * even - smoothing * logits.mean(1)).mean()


def average_precision(scores: Tensor, node: int, held: list[int]) -> float:
    """Of the held-out ancestors of a word; told ones and the word itself are not ranked."""
    scores[[each for each in chains()[node] if each not in held] + [node]] = -torch.inf
    right = scores[held].sort(descending=True).values
    above = (scores > right[:, None]).sum(1)
    return float((torch.arange(1, len(held) + 1) / (above + 1)).mean())


def train(cell: Cell) -> Cell:
    """MAP on test after the last pass."""
    told, held = split(cell["seed"], cell["held_out"])
    torch.manual_seed(cell["seed"])
    model = Namer(len(told), cell)
    tables = {*model.table.parameters(), *model.mark.parameters()}
    maps = [parameter for parameter in model.parameters() if parameter not in tables]
    optimizer = RiemannianAdam([{"params": list(tables)}, {"params": maps, "lr": cell["rate"] * MAPS}], cell["rate"])
    words = torch.tensor([node for node, each in enumerate(told) if each])
    steps = cell["epochs"] * -(-len(words) // BATCH)
    falling = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, steps)
    begin = time.process_time()
    for _ in range(cell["epochs"]):
        for rows in words[torch.randperm(len(words))].split(BATCH):
            loss = loss_of(model(rows), [told[node] for node in rows.tolist()], cell["smoothing"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            falling.step()
    seconds = time.process_time() - begin
    asked = torch.tensor([node for node, each in enumerate(held) if each])
    asked = asked[torch.randperm(len(asked), generator=torch.Generator().manual_seed(0))[:ASKED]]
    found = []
    with torch.no_grad():
        for rows in asked.split(BATCH):
            for node, scores in zip(rows.tolist(), model(rows), strict=True):
                found.append(average_precision(scores, node, held[node]))
    return {"map": sum(found) / len(found), "asked": len(found), "seconds": round(seconds, 1)}
