r"""Probes that read dependency trees off the states of a frozen encoder, one for every layer, all trained side by side.

A probe maps the state of every word to a point; a distance between two points stands for the number of edges between
the words, a distance from the origin for a word's depth.

* :class:`LorentzProbe` (the paper's): :math:`p = f_P(c)`, :math:`q = f_Q(p)`, squared Lorentzian distances.
* :class:`PoincareProbe` (Chen et al., 2021): :math:`q = Q \otimes \exp_0(P c)` in the Poincaré ball, squared geodesic
  distances.
* :class:`EuclideanProbe` (Hewitt and Manning, 2019): :math:`q = B c`, squared Euclidean distances.
"""

from __future__ import annotations

import math
from typing import Any, Literal, get_args

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from hybonet.geometry import Lorentz
from hybonet.nn.gated_lift import gated_lift
from hybonet.nn.module import LorentzModule
from hybonet.nn.scales import time_unit, unit


class StackedLinear(nn.Module):
    """Linear maps without bias: input i is multiplied by matrix i; ``(stack, n, in) -> (stack, n, out)``."""

    def __init__(self, stack: int, in_features: int, out_features: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(stack, out_features, in_features))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Uniform weights within ±1/√in."""
        bound = 1.0 / math.sqrt(self.weight.shape[-1])
        nn.init.uniform_(self.weight, -bound, bound)

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.weight.mT


class StackedLorentzLinear(LorentzModule):
    """Lorentz linear layers in a form that :class:`~hybonet.nn.LorentzLinear` has; λ, of the paper's, is learnt.

    Input points may lie on a hyperboloid of another curvature; outputs lie on the manifold's.
    Shapes: ``(stack, n, in) -> (stack, n, out)``, ambient.
    """

    def __init__(
        self,
        stack: int,
        in_features: int,
        out_features: int,
        *,
        form: ProbeForm = "paper",
        scale: float = 10.0,
        manifold: Lorentz | None = None,
    ) -> None:
        super().__init__(manifold)
        self.form, self.initial_scale = form, scale
        rows = out_features - (form == "scaled")
        self.weight = nn.Parameter(torch.empty(stack, rows, in_features))
        self.bias = nn.Parameter(torch.empty(stack, 1, rows))
        self.log_scale = nn.Parameter(torch.empty(stack, 1, 1)) if form == "paper" else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """As a :class:`~hybonet.nn.LorentzLinear` starts."""
        bound = 1.0 / math.sqrt(self.weight.shape[-1])
        nn.init.uniform_(self.weight, -bound, bound)
        with torch.no_grad():
            self.weight[..., 0] = 0.0
        nn.init.zeros_(self.bias)
        if self.log_scale is not None:
            nn.init.constant_(self.log_scale, math.log(self.initial_scale))

    def forward(self, x: Tensor) -> Tensor:
        K, features = self.manifold.K, x.shape[-1]
        if self.log_scale is not None:
            return gated_lift(torch.baddbmm(self.bias, x, self.weight.mT), self.log_scale.exp(), K=K)
        columns = torch.cat((x.new_full((1,), time_unit(features)), x.new_ones(features - 1)))
        space = torch.baddbmm(self.bias * unit(features, K=K), x * columns, self.weight.mT)
        return self.manifold.lift(space)


ProbeForm = Literal["paper", "scaled"]
ProbeKind = Literal["lorentz", "poincare", "euclidean"]
PROBES: tuple[ProbeKind, ...] = get_args(ProbeKind)


class TreeProbe(nn.Module):
    """What all probes have in common: states to points, and distances between points."""

    def points(self, states: Tensor) -> Tensor:
        """Points of words; ``(layers, words, in) -> (layers, words, dim)``."""
        raise NotImplementedError

    def distances(self, points: Tensor) -> Tensor:
        """Predicted tree distances of all pairs; ``(..., n, dim) -> (..., n, n)``."""
        raise NotImplementedError

    def depths(self, points: Tensor) -> Tensor:
        """Predicted depths; ``(..., dim) -> (...)``."""
        raise NotImplementedError


class LorentzProbe(TreeProbe):
    """The paper's probe. ``f_P`` is a Lorentz linear layer if states are points, else a linear map into the tangent
    space of the origin and the exponential map; ``f_Q`` is a Lorentz linear layer.

    Args:
        dim: ambient coordinates of the probe's space.
        manifold: of the probe's space; states may have another curvature.
        options: of :class:`StackedLorentzLinear`.
    """

    def __init__(
        self, layers: int, in_features: int, dim: int, *, of_points: bool, manifold: Lorentz, **options: Any
    ) -> None:
        super().__init__()
        self.manifold, self.of_points = manifold, of_points
        options["manifold"] = manifold
        self.f_p: nn.Module = (
            StackedLorentzLinear(layers, in_features, dim, **options)
            if of_points
            else StackedLinear(layers, in_features, dim - 1)
        )
        self.f_q = StackedLorentzLinear(layers, dim, dim, **options)

    def points(self, states: Tensor) -> Tensor:
        first = self.f_p(states)
        return self.f_q(first if self.of_points else self.manifold.expmap0(F.pad(first, (1, 0))))

    def distances(self, points: Tensor) -> Tensor:
        return self.manifold.csqdist(points, points)

    def depths(self, points: Tensor) -> Tensor:
        # d²(x, o) = 2 √k (x_t - √k)
        root = float(self.manifold.k) ** 0.5
        return 2.0 * root * (points[..., 0] - root)


class PoincareProbe(TreeProbe):
    """The Poincaré probe, of curvature -1: a linear map, the exponential map of the ball, a Möbius matrix product.

    The product with Q is exp₀(Q log₀(p)), so the point is exp₀(Q P c); it is kept on the Lorentz hyperboloid, which is
    isometric to the ball (the ball's exp₀(v) has geodesic radius 2|v|) and exact in float32 much farther out.
    """

    def __init__(self, layers: int, in_features: int, dim: int) -> None:
        super().__init__()
        self.manifold = Lorentz()
        self.p, self.q = StackedLinear(layers, in_features, dim - 1), StackedLinear(layers, dim - 1, dim - 1)

    def points(self, states: Tensor) -> Tensor:
        return self.manifold.expmap0(F.pad(2.0 * self.q(self.p(states)), (1, 0)))

    def distances(self, points: Tensor) -> Tensor:
        return self.manifold.cdist(points, points).square()

    def depths(self, points: Tensor) -> Tensor:
        return self.manifold.dist0(points).square()


class EuclideanProbe(TreeProbe):
    """The structural probe: squared Euclidean distances after one linear map."""

    def __init__(self, layers: int, in_features: int, dim: int) -> None:
        super().__init__()
        self.b = StackedLinear(layers, in_features, dim)

    def points(self, states: Tensor) -> Tensor:
        return self.b(states)

    def distances(self, points: Tensor) -> Tensor:
        square = points.square().sum(-1)
        return (square.unsqueeze(-1) + square.unsqueeze(-2) - 2.0 * points @ points.mT).clamp_min(0.0)

    def depths(self, points: Tensor) -> Tensor:
        return points.square().sum(-1)


class TreeProbes(nn.Module):
    """A probe for distances and one for depths, for every layer; none shares a parameter with another.

    States that are points of the Lorentz model enter the probes of other kinds by their tangent vectors at the origin.
    :meth:`stretch_to` brings the states of every layer to one length: a layer whose states are ten times longer lies
    where hyperbolic distances grow exponentially, and its probe would not learn.

    Args:
        states: the manifold that states are points of; None: they are Euclidean vectors.
        K, options: of the Lorentz probe's space, and of its layers (:class:`StackedLorentzLinear`).
    """

    def __init__(
        self,
        kind: ProbeKind,
        layers: int,
        in_features: int,
        dim: int,
        *,
        states: Lorentz | None = None,
        K: float = -1.0,
        **options: Any,
    ) -> None:
        super().__init__()
        self.kind, self.states = kind, states
        of_points = states is not None

        def build() -> TreeProbe:
            if kind == "lorentz":
                return LorentzProbe(layers, in_features, dim, of_points=of_points, manifold=Lorentz(K), **options)
            return {"poincare": PoincareProbe, "euclidean": EuclideanProbe}[kind](layers, in_features - of_points, dim)

        self.distance, self.depth = build(), build()
        self.register_buffer("stretch", torch.ones(layers, 1, 1))
        self.stretch: Tensor

    @torch.no_grad()
    def stretch_to(self, length: float, states: Tensor) -> None:
        """Multiply states from now on so that these, ``(words, layers, in)``, have that mean length in every layer; of
        points it is the distance from the origin.
        """
        lengths = states.float().norm(dim=-1) if self.states is None else self.states.dist0(states.float())
        mean = lengths.mean(0)
        self.stretch.copy_(torch.where(mean > 0, length / mean, 1.0)[:, None, None])

    def features(self, states: Tensor) -> Tensor:
        """What the probes read: the states, or their tangent vectors; ``(layers, words, in) -> (layers, words, …)``."""
        if self.states is None:
            return states * self.stretch
        tangent = self.states.logmap0(states) * self.stretch
        return self.states.expmap0(tangent) if self.kind == "lorentz" else tangent[..., 1:]

    def forward(self, states: Tensor, place: Tensor) -> tuple[Tensor, Tensor]:
        """Distances and depths of sentences.

        Args:
            states: of words, whatever sentence they are in; shape (layers, words, in).
            place: where the words of each sentence are, -1 where it has none; shape (sentences, n). What is predicted
                there has no meaning.

        Returns:
            Distances (layers, sentences, n, n) and depths (layers, sentences, n).
        """
        features, place = self.features(states), place.clamp_min(0)
        points = self.distance.points(features)[:, place]
        return self.distance.distances(points), self.depth.depths(self.depth.points(features))[:, place]
