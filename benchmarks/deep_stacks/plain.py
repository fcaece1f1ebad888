"""The block's formulas written down plainly over a library model's parameters, with each Lorentz piece on or off.

With every piece on they are the library's own function; with every piece off, a Transformer with RMS norms on the
space coordinates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Pieces:
    """Which Lorentz pieces there are, what start values are multiplied by, and what is learned; K = -1."""

    distance: bool = True  #: -d² for the logits of attention; else products of space coordinates
    centroid: bool = True  #: else the mean of space coordinates
    time: bool = True  #: time columns of linear maps
    classes: bool = True  #: -d² for the logits of classes; else products of space coordinates
    attention_unit: float = 1.0  #: times s
    time_unit: float = 1.0  #: times a
    bias_unit: float = 1.0  #: times l
    class_unit: float = 1.0  #: times β
    context_unit: float | None = None  #: of what attention gives, if not the library's
    rho: float = 2.0
    learned_rho: bool = False  #: one for each block
    learned_scale: bool = False  #: of attention, one for each head

    @classmethod
    def without(cls, *names: str) -> Pieces:
        return cls(**dict.fromkeys(names, False))


class PlainStack(nn.Module):
    """The forward passes of a model of :mod:`benchmarks.deep_stacks.models`, piece by piece."""

    def __init__(self, model: Any, pieces: Pieces) -> None:
        super().__init__()
        self.model, self.pieces = model, pieces
        norms = [name for name, part in model.named_modules() if type(part).__name__ == "LorentzNorm"]
        heads = [name for name, part in model.named_modules() if type(part).__name__ == "LorentzMultiheadAttention"]
        self.log_rho = nn.ParameterDict(
            {_key(name): nn.Parameter(torch.tensor(math.log(pieces.rho))) for name in norms if pieces.learned_rho}
        )
        self.log_scale = nn.ParameterDict(
            {_key(n): nn.Parameter(torch.zeros(model.heads, 1, 1)) for n in heads if pieces.learned_scale}
        )
        self.names = {part: name for name, part in model.named_modules()}

    def forward(self, *words: Tensor) -> Tensor:
        model = self.model
        points = [
            self.embedded(table, position, rows)
            for table, position, rows in zip(model.tables(), model.positions(), words, strict=True)
        ]
        padding = [model.padding_mask(rows) for rows in words]
        x = self.stack(model.encoder(), points[0], padding[0], model.causal and len(points) == 1)
        if len(points) > 1:
            x = self.stack(model.decoder(), points[1], None, True, x, padding[0])
        return self.logits(model.head, x)

    def unit(self, features: int, rho: Any) -> Any:
        return rho / math.sqrt(features - 1)

    def embedded(self, table: Any, position: Any, rows: Tensor) -> Tensor:
        x = self.pieces.rho * F.embedding(rows, table.weight)[..., 1:]
        if position is None:
            return x
        return x + self.unit(table.embedding_dim, self.pieces.rho) * position.position[: rows.shape[1]]

    def stack(
        self,
        stack: Any,
        x: Tensor,
        padding: Tensor | None,
        causal: bool,
        memory: Tensor | None = None,
        of_memory: Tensor | None = None,
    ) -> Tensor:
        """Space coordinates in, space coordinates out."""
        for layer in stack.layers:
            z, rho = self.norm(layer.norm1, x)
            x = x + self.attention(layer.self_attn, z, z, padding, causal, rho)
            if memory is not None:
                z, rho = self.norm(layer.norm2, x)
                x = x + self.attention(layer.cross_attn, z, memory, of_memory, False, rho)
            z, rho = self.norm(layer.norm3 if memory is not None else layer.norm2, x)
            first, second = layer.feed_forward.linear1, layer.feed_forward.linear2
            width = first.in_features
            unit = self.unit(width, rho)
            hidden = unit * second.activation(self.linear(first, _lifted(z), width, rho) / unit)
            x = x + self.linear(second, _lifted(hidden), width, rho)
        return self.norm(stack.norm, x)[0]

    def norm(self, norm: Any, x: Tensor) -> tuple[Tensor, Any]:
        name = _key(self.names[norm])
        rho = self.log_rho[name].exp() if name in self.log_rho else self.pieces.rho
        return rho * norm.weight * F.normalize(x, dim=-1), rho

    def linear(self, layer: Any, x: Tensor, width: int, rho: Any) -> Tensor:
        """W x_s + a w_t x_t + l b of points, with heads side by side if there are several."""
        a = self.pieces.time_unit * rho / ((width - 1) * (1.0 + rho**2)) ** 0.5 if self.pieces.time else 0.0
        columns = torch.ones(layer.in_features)
        step = layer.in_features // layer.in_heads
        in_unit = layer.in_unit if layer.in_heads == 1 else self.context_unit(layer, rho)
        columns = torch.cat([torch.stack([columns[0] * a]), in_unit * columns[1:step]]).repeat(layer.in_heads)
        return F.linear(x, layer.weight * columns, layer.bias * self.pieces.bias_unit * self.unit(width, rho))

    def context_unit(self, layer: Any, rho: Any) -> Any:
        """Of the weights of heads that come in; means need none."""
        if self.pieces.context_unit is not None or not self.pieces.centroid:
            return self.pieces.context_unit or 1.0
        return (1.0 + rho**2 * (layer.in_features // layer.in_heads - 1) / (2 * layer.in_features - 2)) ** 0.5

    def attention(self, block: Any, x: Tensor, y: Tensor, padding: Tensor | None, causal: bool, rho: Any) -> Tensor:
        width, heads, pieces = block.embed_dim, block.num_heads, self.pieces
        q, k, v = (
            _lifted(self.linear(part, _lifted(z), width, rho).unflatten(-1, (heads, -1))).transpose(-2, -3)
            for part, z in ((block.q_proj, x), (block.k_proj, y), (block.v_proj, y))
        )
        m = q.shape[-1] - 1
        s = pieces.attention_unit * 0.5 / (math.sqrt(m) * self.unit(width, rho) ** 2)
        name = _key(self.names[block])
        s = s * self.log_scale[name].exp() if name in self.log_scale else s
        q = 2.0 * s * torch.cat((-q[..., :1] if pieces.distance else torch.zeros_like(q[..., :1]), q[..., 1:]), -1)
        mask = None if padding is None else ~padding[:, None, None, :]
        mean = F.scaled_dot_product_attention(q, k, v, mask, is_causal=causal, scale=1.0)
        space = mean[..., 1:]
        if pieces.centroid:
            space = space / (mean[..., :1].square() - space.square().sum(-1, keepdim=True)).sqrt()
        heads_side_by_side = _lifted(space).transpose(-2, -3).flatten(-2)
        return self.linear(block.out_proj, heads_side_by_side, width, rho)

    def logits(self, head: Any, x: Tensor) -> Tensor:
        length = head.length
        beta = self.pieces.class_unit * 0.5 / (length * self.unit(head.in_features, self.pieces.rho))
        points = _lifted(length * head.weight[:, 1:])
        point = _lifted(x)
        product = point[..., 1:] @ points[:, 1:].T
        if self.pieces.classes:
            product = product - (point[..., :1] - 1.0) * points[:, 0]
        return 2.0 * beta * head.log_scale.exp() * product + head.bias


def _lifted(space: Tensor) -> Tensor:
    return torch.cat(((space.square().sum(-1, keepdim=True) + 1.0).sqrt(), space), dim=-1)


def _key(name: str) -> str:
    return name.replace(".", "-")
