"""Held-out hypernyms: a stack reads [word, mark] and names, at the word's place, its ancestors; some it was never told.

WordNet's mammals, or all below a noun; the first parent of each alone. Half of the ancestors that are not parents are
held out, 30 % of those to choose by. The table is tied between input and output. Mean average precision is filtered:
ancestors that are not asked for are taken out of the ranking. With ``rare``, only ancestors of fewer words than that
are asked for.
"""

from __future__ import annotations

import time
from functools import cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.deep_stacks.models import start
from benchmarks.deep_stacks.plain import Pieces, PlainStack
from hybonet.data import Hierarchy, load_hierarchy
from hybonet.nn import (
    LorentzDistanceHead,
    LorentzEmbedding,
    LorentzTransformerEncoder,
    LorentzTransformerEncoderLayer,
    scales,
)
from hybonet.optim import RiemannianAdam

Cell = dict[str, Any]
EVERY, BATCH = 10, 64
#: Rates of maps are so much smaller than those of tables.
MAPS = 0.1


class Heads(nn.Module):
    """Logits of points for the rows of a table, in space coordinates: a product, or Euclidean distances.

    Factors are such that all start with logits of one spread, for points and rows of length ρ.
    """

    def __init__(self, kind: str, width: int, classes: int) -> None:
        super().__init__()
        self.kind, rho = kind, scales.NORM_LENGTH
        beta = 0.5 * (width - 1) ** 0.5 / rho**2  # as of the Lorentz head, tied
        slope = {"linear": 1.0, "squared": 1.0, "distance": (8.0 * rho**2) ** 0.5, "log": 1.0 + 2.0 * rho**2}
        self.factor = beta * slope[kind]
        self.log_scale = nn.Parameter(torch.tensor(scales.CLASS_GAIN).log())
        self.bias = nn.Parameter(torch.zeros(classes))

    def forward(self, x: Tensor, table: Tensor) -> Tensor:
        factor = self.factor * self.log_scale.exp()
        if self.kind == "linear":
            return 2.0 * factor * x @ table.T + self.bias
        square = (x.square().sum(-1, keepdim=True) + table.square().sum(-1) - 2.0 * x @ table.T).clamp_min(1e-9)
        return self.bias - factor * {"distance": square.sqrt, "log": square.log1p, "squared": square.clone}[self.kind]()


class Namer(nn.Module):
    """``body``: ``lorentz``, ``flat`` (every Lorentz piece off) or ``torch``; ``head``: ``geodesic`` or ``squared`` of
    the library, or one of :class:`Heads`. All bodies have as many space coordinates.
    """

    def __init__(self, words: int, cell: Cell) -> None:
        super().__init__()
        self.kind, self.head_kind = cell["model"].split("/")
        width, depth = cell["space"] + 1, cell["layers"]
        self.table, self.mark = LorentzEmbedding(words, width), LorentzEmbedding(1, width)
        if self.kind == "torch":
            layer = nn.TransformerEncoderLayer(width - 1, 1, cell["inner"], 0.0, batch_first=True, norm_first=True)
            self.encoder: Any = nn.TransformerEncoder(layer, depth, nn.LayerNorm(width - 1), enable_nested_tensor=False)
            start(self.encoder, depth)
        else:
            block = LorentzTransformerEncoderLayer(width, 1, cell["inner"], 0.0)
            self.encoder = LorentzTransformerEncoder(block, depth)
        own = self.head_kind in ("geodesic", "squared") and self.kind != "torch"
        self.head: Any = (
            LorentzDistanceHead(width, words, distance=self.head_kind, tied=self.table)  # type: ignore[arg-type]
            if own
            else Heads(self.head_kind, width, words)
        )
        # Its walk over the stack alone is needed, so that it shares the parameters and has none.
        self.plain = (PlainStack(self.encoder, Pieces.without("distance", "centroid", "time")),)

    def forward(self, words: Tensor) -> Tensor:
        rows = torch.stack((self.table(words), self.mark(torch.zeros_like(words))), dim=1)
        if self.kind == "lorentz":
            x = self.encoder(rows)[:, 0]
        elif self.kind == "flat":
            x = self.plain[0].stack(self.encoder, rows[..., 1:], None, False)[:, 0]
            x = self.table.manifold.lift(x)
        else:
            unit = scales.unit(self.table.embedding_dim, K=-1.0)
            x = self.table.manifold.lift(unit * self.encoder(rows[..., 1:] / unit)[:, 0])
        if isinstance(self.head, LorentzDistanceHead):
            return self.head(x)
        return self.head(x[..., 1:], self.table.points()[:, 1:])


@cache
def tree(below: str | None) -> Hierarchy:
    """WordNet's mammals, or a noun with all below it."""
    if below is None:
        return load_hierarchy("wordnet_mammals")
    nouns = load_hierarchy("wordnet_nouns")
    top = nouns.names.index(below)
    kept = {top, *nouns.below(top).tolist()}
    edges = [(nouns.names[child], nouns.names[up]) for child, up in nouns.edges.tolist() if {child, up} <= kept]
    return Hierarchy.from_edges(edges, source=below)


@cache
def split(seed: int, share: float, noise: float, below: str | None = None) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Masks ``(nodes, nodes)`` of ancestors: all, told, to choose by, to test by. ``share`` of those that may be held
    out are; ``noise`` of those told are nodes at random instead.
    """
    words = tree(below)
    generator = torch.Generator().manual_seed(seed)
    true, parents = torch.zeros(2, len(words), len(words), dtype=torch.bool)
    for node in words.topological_order:
        for parent in words.parents[node][:1]:
            parents[node, parent] = True
            true[node] = true[parent] | parents[node]
    far = true & ~parents
    lot = torch.rand(far.shape, generator=generator)
    test, valid = far & (lot < 0.7 * share), far & (lot >= 0.7 * share) & (lot < share)
    told = true & ~test & ~valid
    wrong = told & (torch.rand(far.shape, generator=generator) < noise)
    rows = wrong.nonzero()[:, 0]
    told = told & ~wrong
    told[rows, torch.randint(len(words), (len(rows),), generator=generator)] = True
    return true, told, valid, test


def average_precision(scores: Tensor, wanted: Tensor, known: Tensor) -> float:
    """Mean over the nodes with something wanted; known ancestors and the node itself are not ranked."""
    scores = scores.masked_fill(known & ~wanted, -torch.inf)
    scores.fill_diagonal_(-torch.inf)
    some = wanted.any(1)
    hits = wanted[some].gather(1, scores[some].argsort(1, descending=True)).float()
    ranks = torch.arange(1, hits.shape[1] + 1)
    return float(((hits.cumsum(1) / ranks * hits).sum(1) / hits.sum(1)).mean())


def train(cell: Cell) -> Cell:
    """MAP on test and of the choice, at the best epoch of the choice."""
    true, told, valid, test = split(cell["seed"], cell["held_out"], cell["noise"], cell.get("below"))
    if "rare" in cell:
        test = test & (told.sum(0) < cell["rare"])
    torch.manual_seed(cell["seed"])
    model = Namer(len(true), cell)
    tables = {*model.table.parameters(), *model.mark.parameters()}
    maps = [parameter for parameter in model.parameters() if parameter not in tables]
    optimizer = RiemannianAdam([{"params": list(tables)}, {"params": maps, "lr": cell["rate"] * MAPS}], cell["rate"])
    words = told.any(1).nonzero()[:, 0]
    targets = F.normalize(told.float(), p=1.0, dim=1) * (1.0 - cell["smoothing"]) + cell["smoothing"] / len(true)
    begin, best = time.process_time(), {"valid": -1.0}
    falling = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, cell["epochs"])
    for epoch in range(1, cell["epochs"] + 1):
        for rows in words[torch.randperm(len(words))].split(BATCH):
            loss = F.cross_entropy(model(rows), targets[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if epoch % EVERY == 0:
            with torch.no_grad():
                scores = model(torch.arange(len(true)))
            chosen = average_precision(scores, valid, true)
            if chosen > best["valid"]:
                best = {"valid": chosen, "map": average_precision(scores, test, true), "epoch": epoch}
        falling.step()
    return {**best, "seconds": round(time.process_time() - begin, 1)}
