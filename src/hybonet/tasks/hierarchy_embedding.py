r"""Embed a hierarchy in hyperbolic space so that distances alone give it back.

For every pair (u, v) of the transitive closure, v an ancestor of u, the loss is the softmax ranking loss of Nickel and
Kiela (2017),

.. math:: -\log \frac{e^{-d(u, v)/\tau}}{e^{-d(u, v)/\tau} + \sum_{v' \in N(u)} e^{-d(u, v')/\tau}},

with geodesic distances d and random nodes N(u) that are not ancestors of u. The negatives of a batch are drawn once and
shared by its pairs, so that their distances are one matrix product.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor

from hybonet.data import Hierarchy
from hybonet.geometry import Lorentz
from hybonet.metrics import Reconstruction, reconstruction
from hybonet.nn import LorentzEmbedding
from hybonet.optim import RiemannianAdam
from hybonet.tasks.radial_layout import radial_layout
from hybonet.training import Settings

#: Points reach radius 15, where coordinates are 10^6 and float32 no longer tells neighbours apart.
DTYPE = torch.float64
#: The closure's mask and the all-pairs distances are dense: at this size they take about a gigabyte.
MAX_NODES = 10_000
#: Added to the logits of sampled ancestors. Finite, because a row of nothing but -inf has a NaN gradient.
_EXCLUDED = -1e30


class HierarchyEmbeddingConfig(Settings):
    """Settings of a training; the defaults embed WordNet's mammals in the hyperbolic plane.

    Example:
        >>> HierarchyEmbeddingConfig(dim=6).epochs
        300
        >>> HierarchyEmbeddingConfig(epoch=10)
        Traceback (most recent call last):
        pydantic_core._pydantic_core.ValidationError: ... unknown setting 'epoch'; did you mean 'epochs'? ...
    """

    dim: int = Field(3, ge=3, description="ambient coordinates, time included; 3 is the hyperbolic plane")
    K: float = Field(-1.0, lt=0, allow_inf_nan=False, description="curvature")
    epochs: int = Field(300, ge=1, description="passes over all pairs (node, ancestor)")
    batch_size: int = Field(8192, ge=1, description="pairs (node, ancestor) a step")
    negatives: int = Field(100, ge=1, description="random nodes a step, shared by its pairs")
    lr: float = Field(
        0.3, gt=0, allow_inf_nan=False, description="geodesic step of rAdam; falls to 0 in the second half"
    )
    temperature: float = Field(1.0, gt=0, allow_inf_nan=False, description="tau of the loss")
    start: Literal["layout", "random"] = Field(
        "layout",
        description="layout: a radial drawing of the tree, which training then corrects; in the plane points cannot "
        "pass one another, so a random start stays tangled. random: a small cloud at the origin, enough from dim 6 on",
    )
    start_radius: float = Field(8.0, gt=0, le=15, description="radius of the drawing, in units of 1/sqrt(-K)")
    start_std: float = Field(0.01, gt=0, allow_inf_nan=False, description="noise added to every starting point")
    max_radius: float = Field(15.0, gt=0, le=16, description="bound for every point, in units of 1/sqrt(-K)")
    seed: int = Field(0, ge=0, lt=2**63, description="of the starting noise, the batches and the negatives")


@dataclass(frozen=True)
class Progress:
    """What a training reports after each epoch: its number, how many there are, and the mean loss of its pairs."""

    epoch: int
    epochs: int
    loss: float


@dataclass(frozen=True)
class TrainedHierarchy:
    """A trained table with its measures; row i embeds the hierarchy's name i."""

    table: LorentzEmbedding
    start: Reconstruction
    final: Reconstruction
    loss: float
    seconds: float


def train(
    config: HierarchyEmbeddingConfig,
    hierarchy: Hierarchy,
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> TrainedHierarchy:
    """Train an embedding of the hierarchy. The same config, data and number of threads give the same numbers.

    Example:
        >>> family = Hierarchy.from_edges([("dog", "canine"), ("wolf", "canine"), ("cat", "feline"), ("lion", "feline"),
        ...     ("canine", "mammal"), ("feline", "mammal")])
        >>> trained = train(HierarchyEmbeddingConfig(epochs=100, lr=0.1), family)
        >>> trained.final
        Reconstruction(mean_rank=1.0, mean_average_precision=1.0)
    """
    _check_size(hierarchy)
    begin = time.perf_counter()
    generator = torch.Generator().manual_seed(config.seed)
    manifold = Lorentz(config.K)
    points = starting_points(config, hierarchy, manifold, generator)
    start = measure(points, hierarchy, manifold)
    with torch.random.fork_rng(devices=[]):  # building a table draws numbers; the caller's random state is not ours
        table = LorentzEmbedding.from_pretrained(
            points, freeze=False, max_norm=math.sinh(config.max_radius) * float(manifold.k) ** 0.5, manifold=manifold
        )
    optimizer = RiemannianAdam(table, lr=config.lr)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: min(1.0, 2 - 2 * epoch / config.epochs))
    for epoch in range(config.epochs):
        total = 0.0
        shuffled = hierarchy.closure[torch.randperm(len(hierarchy.closure), generator=generator)]
        for pairs in shuffled.split(config.batch_size):
            negatives = torch.randperm(len(hierarchy), generator=generator)[: config.negatives]
            loss = ranking_loss(table, pairs, negatives, hierarchy.is_ancestor, config.temperature)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(pairs)
        schedule.step()
        mean = total / len(shuffled)
        if not math.isfinite(mean):
            raise ValueError(
                f"expected a finite loss, got {mean} in epoch {epoch + 1}; lower lr (now {config.lr}) or max_radius "
                f"(now {config.max_radius})"
            )
        on_progress(Progress(epoch + 1, config.epochs, mean))
    with torch.no_grad():  # the table's rows may lie beyond max_radius; what it looks up does not
        table.weight.copy_(table(torch.arange(len(hierarchy))))
    final = measure(table.weight.detach(), hierarchy, manifold)
    return TrainedHierarchy(table, start, final, mean, time.perf_counter() - begin)


def ranking_loss(
    table: LorentzEmbedding, pairs: Tensor, negatives: Tensor, is_ancestor: Tensor, temperature: float
) -> Tensor:
    """Mean softmax ranking loss of pairs (node, ancestor) against shared negatives.

    Shapes: ``pairs (pairs, 2)``, ``negatives (negatives,)``, ``is_ancestor (nodes, nodes)`` ``-> ()``.

    Example:
        >>> import torch
        >>> table = LorentzEmbedding(4, 3, init_std=1e-9)
        >>> is_ancestor = torch.tensor([[0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]], dtype=torch.bool)
        >>> loss = ranking_loss(table, torch.tensor([[0, 1]]), torch.tensor([2, 3]), is_ancestor, 1.0)
        >>> bool(torch.isclose(loss, torch.tensor(3.0).log()))
        True
    """
    manifold = table.manifold
    node, ancestor = pairs.unbind(-1)
    nodes, place = node.unique(return_inverse=True)
    excluded = is_ancestor[nodes][:, negatives] | (nodes[:, None] == negatives)
    points = table(nodes)
    logits = -manifold.cdist(points, table(negatives)) / temperature
    against = logits.masked_fill(excluded, _EXCLUDED).logsumexp(-1)
    toward = -manifold.dist(points[place], table(ancestor)) / temperature
    # -log(e^t / (e^t + e^a)) = log(1 + e^(a - t))
    return F.softplus(against[place] - toward).mean()


def starting_points(
    config: HierarchyEmbeddingConfig, hierarchy: Hierarchy, manifold: Lorentz, generator: torch.Generator
) -> Tensor:
    """Points before the first step: small noise about the radial layout, or about the origin; ``-> (nodes, dim)``.

    Example:
        >>> family = Hierarchy.from_edges([("dog", "canine"), ("wolf", "canine")])
        >>> points = starting_points(HierarchyEmbeddingConfig(dim=5), family, Lorentz(), torch.Generator())
        >>> points.shape, Lorentz().check_point(points)
        (torch.Size([3, 5]), True)
    """
    noise = torch.randn(len(hierarchy), config.dim, dtype=DTYPE, generator=generator) * config.start_std
    noise[:, 0] = 0.0
    if config.start == "random":
        return manifold.expmap0(noise)
    layout = radial_layout(hierarchy, config.dim, manifold, radius=min(config.start_radius, config.max_radius))
    return manifold.expmap(layout, manifold.transp0(layout, noise))


def measure(points: Tensor, hierarchy: Hierarchy, manifold: Lorentz) -> Reconstruction:
    """Reconstruction of the hierarchy from points ``(nodes, dim)``, by exact distances.

    Example:
        >>> family = Hierarchy.from_edges([("dog", "canine"), ("wolf", "canine")])
        >>> measure(radial_layout(family, 3, Lorentz(), radius=2.0), family, Lorentz())
        Reconstruction(mean_rank=1.0, mean_average_precision=1.0)
    """
    return reconstruction(all_distances(points, manifold), hierarchy.is_ancestor)


def all_distances(points: Tensor, manifold: Lorentz) -> Tensor:
    """Geodesic distances of all pairs, in the form without cancellation; ``(nodes, dim) -> (nodes, nodes)``.

    Example:
        >>> all_distances(Lorentz().origin(2, 3), Lorentz())
        tensor([[0., 0.],
                [0., 0.]])
    """
    rows = [manifold.dist(block.unsqueeze(1), points) for block in points.split(64)]  # in blocks, to bound memory
    return torch.cat(rows)


def _check_size(hierarchy: Hierarchy) -> None:
    if len(hierarchy) > MAX_NODES:
        raise ValueError(
            f"{hierarchy.source}: expected at most {MAX_NODES} nodes, got {len(hierarchy)}; the measures compare all "
            "pairs of nodes, so embed a part of the hierarchy"
        )
    nodes = len(hierarchy)
    if len(hierarchy.closure) == nodes * (nodes - 1) // 2:  # every two nodes are related
        raise ValueError(
            f"{hierarchy.source}: expected a hierarchy with branches, got a single chain of {nodes} nodes, where an "
            "ancestor has nothing to be ranked against; add a node beside the chain"
        )
