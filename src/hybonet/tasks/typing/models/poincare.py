"""HY: the Poincaré-ball model, with a Möbius GRU, midpoints and hyperplanes for types."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from hybonet.geometry import from_poincare, to_poincare
from hybonet.geometry.poincare_ball import from_tangent, into_ball, mobius_add, to_tangent
from hybonet.nn import LorentzCentroidPooling
from hybonet.nn.dropout import dropout
from hybonet.tasks.typing.models.mention_classifier import MentionClassifier


class MobiusLinear(nn.Module):
    r""":math:`\exp_0(W \log_0 x) \oplus b` in the Poincaré ball of curvature -1."""

    c: Tensor

    def __init__(self, before: int, after: int) -> None:
        super().__init__()
        self.linear = nn.Linear(before, after, bias=False)
        self.bias = nn.Parameter(torch.zeros(after))
        self.register_buffer("c", torch.tensor(1.0), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        moved = from_tangent(self.linear(to_tangent(x, self.c)), self.c)
        return into_ball(mobius_add(moved, from_tangent(self.bias, self.c), self.c), self.c)


class _MobiusGRU(nn.Module):
    """A gated recurrent unit whose state is a point of the ball (Ganea et al., 2018)."""

    c: Tensor

    def __init__(self, size: int) -> None:
        super().__init__()
        self.inputs = nn.Linear(size, 3 * size, bias=False)
        self.states = nn.Linear(size, 2 * size, bias=False)
        self.candidate = nn.Linear(size, size, bias=False)
        self.bias = nn.Parameter(torch.zeros(3, size))
        self.register_buffer("c", torch.tensor(1.0), persistent=False)

    def forward(self, x: Tensor, padding: Tensor) -> Tensor:
        inputs = [from_tangent(part, self.c) for part in self.inputs(to_tangent(x, self.c)).chunk(3, -1)]
        biases = from_tangent(self.bias, self.c)
        state, states = torch.zeros_like(x[:, 0]), []
        for step in range(x.shape[1]):
            reset, update = self.states(to_tangent(state, self.c)).chunk(2, -1)
            r, z = (
                torch.sigmoid(to_tangent(self._sum(from_tangent(own, self.c), inputs[n][:, step], biases[n]), self.c))
                for n, own in enumerate((reset, update))
            )
            own = from_tangent(self.candidate(r * to_tangent(state, self.c)), self.c)
            new = self._sum(own, inputs[2][:, step], biases[2])
            towards = to_tangent(into_ball(mobius_add(-state, new, self.c), self.c), self.c)
            moved = into_ball(mobius_add(state, from_tangent(z * towards, self.c), self.c), self.c)
            state = torch.where(padding[:, step, None], state, moved)
            states.append(state)
        return torch.stack(states, 1)

    def _sum(self, own: Tensor, given: Tensor, bias: Tensor) -> Tensor:
        both = into_ball(mobius_add(own, given, self.c), self.c)
        return into_ball(mobius_add(both, bias.expand_as(both), self.c), self.c)


class HY(MentionClassifier):
    r"""López and Strube (2020): words as points of the Poincaré ball, Möbius linear maps, the Einstein midpoint of the
    mention's words, a Möbius GRU with attention by distances over the context, and a hyperplane a type.

    The midpoint is the Lorentz centroid of the same points. Hyperplanes are in the form of Shimizu et al. (2021), a
    vector :math:`z_i` and a number :math:`r_i` each, so that they have as many parameters as HyboNet's points.
    """

    c: Tensor

    def __init__(self, words: Tensor, num_types: int, dim: int = 128, **options: Any) -> None:
        one = torch.tensor(1.0)
        super().__init__(words, num_types, dim, lift=partial(from_tangent, c=one), **options)
        self.register_buffer("c", one, persistent=False)
        self.lift = MobiusLinear(words.shape[1], dim)
        self.gru = _MobiusGRU(dim)
        self.query, self.key = MobiusLinear(dim, dim), MobiusLinear(dim, dim)
        self.places = nn.Parameter(torch.zeros(3, dim))
        self.pool = LorentzCentroidPooling()
        self.merge_mention, self.merge_context = MobiusLinear(dim, dim), MobiusLinear(dim, dim)
        self.normals = nn.Parameter(torch.randn(num_types, dim) * (self.type_std or dim**-0.5))
        self.offsets = nn.Parameter(torch.zeros(num_types))
        self.bias = nn.Parameter(torch.zeros(num_types))

    @property
    def type_bias(self) -> Tensor:
        return self.bias

    def represent(self, mention: Tensor, context: Tensor, place: Tensor) -> Tensor:
        """A point of the ball for each mention in its context, ``(N, dim)``."""
        spoken = self.lift(self._dropped(self.words[mention], self.dropout))
        m = self._midpoint(spoken, mention == 0)
        padding = context == 0
        x = self.lift(self._dropped(self.words[context], self.dropout))
        side = from_tangent(self.places, self.c)[place.sign() + 1]
        h = self.gru(into_ball(mobius_add(x, side, self.c), self.c), padding)
        q, k = (from_poincare(layer(h), K=-1.0) for layer in (self.query, self.key))
        q = self.pool(q, padding)
        distance = torch.acosh((q[:, None, 0] * k[..., 0] - (q[:, None, 1:] * k[..., 1:]).sum(-1)).clamp_min(1 + 1e-6))
        weights = torch.softmax((-distance).masked_fill(padding, -1e9), -1)
        c = self._midpoint(h, padding, weights)
        m, c = (self._dropped(each, self.merge_dropout) for each in (m, c))
        return into_ball(mobius_add(self.merge_mention(m), self.merge_context(c), self.c), self.c)

    def forward(self, mention: Tensor, context: Tensor, place: Tensor) -> Tensor:
        x = self.represent(mention, context, place)
        conformal = 2 / (1 - x.square().sum(-1, keepdim=True)).clamp_min(1e-7)
        length = self.normals.norm(dim=-1).clamp_min(1e-15)
        towards = x @ (self.normals / length[:, None]).T
        inside = conformal * towards * torch.cosh(2 * self.offsets) - (conformal - 1) * torch.sinh(2 * self.offsets)
        return 2 * length * torch.asinh(inside) + self.bias

    def _midpoint(self, x: Tensor, padding: Tensor, weights: Tensor | None = None) -> Tensor:
        return to_poincare(self.pool(from_poincare(x, K=-1.0), padding, weights), K=-1.0)

    def _dropped(self, x: Tensor, p: float) -> Tensor:
        return from_tangent(dropout(to_tangent(x, self.c), p), self.c) if self.training and p else x
