r"""Embed a hierarchy in hyperbolic space so that distances alone give it back.

For every pair (u, v) of the transitive closure, v an ancestor of u, the loss is the softmax ranking loss of Nickel and
Kiela (2017),

.. math:: -\log \frac{e^{-d(u, v)/\tau}}{e^{-d(u, v)/\tau} + \sum_{v' \in N(u)} e^{-d(u, v')/\tau}},

with geodesic distances d and random nodes N(u) that are not ancestors of u. The negatives of a batch are drawn once and
shared by its pairs, so that their distances are one matrix product.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from hybonet.data import Hierarchy
from hybonet.geometry import Lorentz
from hybonet.metrics import Reconstruction, ReconstructionMeter
from hybonet.metrics.reconstruction import PROTOCOL
from hybonet.nn import LorentzEmbedding
from hybonet.optim import RiemannianAdam
from hybonet.reporting.geodesics import radial_layout
from hybonet.training import LoopSettings, ScheduleSettings, generator_for

#: Points reach radius 15, where coordinates are 10^6 and float32 no longer tells neighbours apart.
DTYPE = torch.float64
#: Up to so many nodes distances are exact, and up to so many all are measured; of more, a sample.
_EXACT, _ALL, _SAMPLE = 3_000, 10_000, 1_000
#: Coordinates of distances that are computed together.
_AT_ONCE = 5_000_000
#: More take hours, and their ancestors many gigabytes.
MAX_NODES = 200_000
#: Added to the logits of sampled ancestors. Finite, because a row of nothing but -inf has a NaN gradient.
_EXCLUDED = -1e30


class HierarchySettings(LoopSettings):
    """Everything a training depends on but the data; the defaults embed WordNet's mammals in the hyperbolic plane."""

    epochs: int = Field(300, ge=1, description="passes over all pairs (node, ancestor)")
    validate_every: int = Field(30, ge=1, description="epochs between validations")
    schedule: ScheduleSettings = ScheduleSettings(kind="linear", hold=0.5)
    dim: int = Field(3, ge=3, description="ambient coordinates, time included; 3 is the hyperbolic plane")
    K: float = Field(-1.0, lt=0, allow_inf_nan=False, description="curvature")
    batch_size: int = Field(8192, ge=1, description="pairs (node, ancestor) per batch")
    negatives: int = Field(100, ge=1, description="random nodes per batch, shared by its pairs")
    lr: float = Field(0.3, gt=0, allow_inf_nan=False, description="geodesic step of rAdam")
    temperature: float = Field(1.0, gt=0, allow_inf_nan=False, description="tau of the loss")
    start: Literal["layout", "random"] = Field(
        "layout",
        description="layout: a radial drawing of the tree, which training then corrects; in the plane points cannot "
        "pass one another, so a random start stays tangled. random: a small cloud at the origin, enough from dim 6 on",
    )
    start_radius: float = Field(8.0, gt=0, le=15, description="radius of the drawing, in units of 1/sqrt(-K)")
    start_std: float = Field(0.01, gt=0, allow_inf_nan=False, description="noise added to every starting point")
    max_radius: float = Field(15.0, gt=0, le=16, description="bound for every point, in units of 1/sqrt(-K)")


@dataclass(frozen=True)
class Batch:
    """Pairs (node, ancestor) and the nodes that all of them are ranked against."""

    pairs: Tensor
    negatives: Tensor


class HierarchyTask:
    """Fills in :class:`~hybonet.training.Task` for a hierarchy: row i of the model embeds the hierarchy's name i.

    Validation measures how well distances give the hierarchy back; there is nothing to hold out.
    """

    name = "hierarchy"
    monitor, monitor_label, unit = "mean_average_precision", "mean average precision", "pairs/s"
    higher_is_better = True

    def __init__(self, settings: HierarchySettings, hierarchy: Hierarchy) -> None:
        _check_size(hierarchy)
        self.settings, self.hierarchy = settings, hierarchy
        self.manifold = Lorentz(settings.K)

    def build_model(self) -> LorentzEmbedding:
        bound = math.sinh(self.settings.max_radius) * float(self.manifold.k) ** 0.5
        return LorentzEmbedding.from_pretrained(
            self.start(), freeze=False, max_norm=bound, manifold=self.manifold, form="paper"
        )

    def start(self) -> Tensor:
        """The points before the first step; ``-> (nodes, dim)``."""
        generator = torch.Generator().manual_seed(self.settings.seed)
        return starting_points(self.settings, self.hierarchy, self.manifold, generator)

    def points(self, model: nn.Module) -> Tensor:
        """The points that a model looks up, none beyond the largest radius (its table's rows may be);
        ``-> (nodes, dim)``.
        """
        device = next(model.parameters()).device
        with torch.no_grad():
            return model(torch.arange(len(self.hierarchy), device=device)).cpu()

    def build_optimizer(self, model: nn.Module) -> RiemannianAdam:
        return RiemannianAdam(model, lr=self.settings.lr)

    def batches_per_epoch(self) -> int:
        return -(-len(self.hierarchy.closure) // self.settings.batch_size)

    def batches(self, epoch: int, start: int, rank: int = 0, world: int = 1) -> Iterator[Batch]:
        closure, seed, device = self.hierarchy.closure, self.settings.seed, self.settings.device
        order = torch.randperm(len(closure), generator=generator_for(seed, epoch, 0))
        for number, chosen in enumerate(order.split(self.settings.batch_size)):
            if number >= start:
                shuffled = torch.randperm(len(self.hierarchy), generator=generator_for(seed, epoch, number + 1))
                pairs, negatives = closure[chosen[rank::world]], shuffled[: self.settings.negatives]
                yield Batch(pairs.to(device), negatives.to(device))

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        are_ancestors, temperature = self.hierarchy.are_ancestors, self.settings.temperature
        return ranking_loss(model, self.manifold, batch.pairs, batch.negatives, are_ancestors, temperature)

    def validate(self, model: nn.Module) -> dict[str, float]:
        return asdict(measure(self.points(model), self.hierarchy, self.manifold))

    def describe(self) -> dict[str, Any]:
        hierarchy = self.hierarchy
        return {
            "task": self.name,
            "protocol": PROTOCOL if len(hierarchy) <= _ALL else f"{PROTOCOL}; of {_SAMPLE:,} nodes, drawn at random",
            "dtype": str(DTYPE).removeprefix("torch."),
            "data": {
                "source": hierarchy.source,
                "sha256": hierarchy.sha256,
                "nodes": len(hierarchy),
                "edges": len(hierarchy.edges),
                "pairs": len(hierarchy.closure),
            },
        }


def ranking_loss(
    look_up: Callable[[Tensor], Tensor],
    manifold: Lorentz,
    pairs: Tensor,
    negatives: Tensor,
    are_ancestors: Callable[[Tensor, Tensor], Tensor],
    temperature: float,
) -> Tensor:
    """Mean softmax ranking loss of pairs (node, ancestor) against shared negatives.

    Shapes: ``look_up`` gives points ``(n, dim)`` for numbers ``(n,)``; ``pairs (pairs, 2)``,
    ``negatives (negatives,)``; ``are_ancestors`` is that of a hierarchy ``-> ()``.
    """
    node, ancestor = pairs.unbind(-1)
    nodes, place = node.unique(return_inverse=True)
    excluded = are_ancestors(nodes.cpu(), negatives.cpu()).to(nodes.device) | (nodes[:, None] == negatives)
    # One call for all: a model that several processes train is to be called once a step.
    points, others, above = look_up(torch.cat((nodes, negatives, ancestor))).split(
        (len(nodes), len(negatives), len(ancestor))
    )
    logits = -manifold.cdist(points, others) / temperature
    against = logits.masked_fill(excluded, _EXCLUDED).logsumexp(-1)
    toward = -manifold.dist(points[place], above) / temperature
    # -log(e^t / (e^t + e^a)) = log(1 + e^(a - t))
    return F.softplus(against[place] - toward).mean()


def starting_points(
    settings: HierarchySettings, hierarchy: Hierarchy, manifold: Lorentz, generator: torch.Generator
) -> Tensor:
    """Points before the first step: small noise about the radial layout, or about the origin; ``-> (nodes, dim)``.

    Example:
        >>> family = Hierarchy.from_edges([("dog", "canine"), ("wolf", "canine")])
        >>> points = starting_points(HierarchySettings(dim=5), family, Lorentz(), torch.Generator())
        >>> points.shape, Lorentz().check_point(points)
        (torch.Size([3, 5]), True)
    """
    noise = torch.randn(len(hierarchy), settings.dim, dtype=DTYPE, generator=generator) * settings.start_std
    noise[:, 0] = 0.0
    if settings.start == "random":
        return manifold.expmap0(noise)
    layout = radial_layout(hierarchy, settings.dim, manifold, radius=min(settings.start_radius, settings.max_radius))
    return manifold.expmap(layout, manifold.transp0(layout, noise))


def measure(points: Tensor, hierarchy: Hierarchy, manifold: Lorentz) -> Reconstruction:
    """Reconstruction of the hierarchy from points ``(nodes, dim)``, of a large one from a sample of its nodes.

    Distances are exact, but for many nodes those of a matrix product: off by about a millionth, and 30 times as quick.
    """
    nodes, is_exact = torch.arange(len(hierarchy)), len(hierarchy) <= _EXACT
    if len(nodes) > _ALL:
        below = nodes[hierarchy.depths > 0]  # roots have nothing above them to find
        nodes = below[torch.randperm(len(below), generator=torch.Generator().manual_seed(0))[:_SAMPLE]]
    meter = ReconstructionMeter()
    for some in nodes.split(max(1, _AT_ONCE // points.numel())):
        above = hierarchy.are_ancestors(some, torch.arange(len(hierarchy)))
        near = manifold.dist(points[some].unsqueeze(1), points) if is_exact else manifold.cdist(points[some], points)
        meter.add(some, near, above)
    return meter.result()


def _check_size(hierarchy: Hierarchy) -> None:
    if len(hierarchy) > MAX_NODES:
        raise ValueError(
            f"{hierarchy.source}: expected at most {MAX_NODES:,} nodes, got {len(hierarchy):,}; embed a part of the "
            "hierarchy"
        )
    nodes = len(hierarchy)
    if len(hierarchy.closure) == nodes * (nodes - 1) // 2:  # every two nodes are related
        raise ValueError(
            f"{hierarchy.source}: expected a hierarchy with branches, got a single chain of {nodes} nodes, where an "
            "ancestor has nothing to be ranked against; add a node beside the chain"
        )
