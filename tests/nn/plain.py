"""Oracles: the layers' definitions written down plainly, with no regard to speed or to the rounding of far points."""

import torch
from torch import Tensor

from hybonet.geometry import precision


def inner(x: Tensor, y: Tensor) -> Tensor:
    return (x[..., 1:] * y[..., 1:]).sum(-1) - x[..., 0] * y[..., 0]


def assert_on_sheet(x: Tensor, K: float, like: torch.dtype | None = None) -> None:
    """<x,x> = 1/K within the tolerance of a dtype, relative to the terms that cancel; and time is positive."""
    wide = x.detach().double()
    gap = (inner(wide, wide) - 1.0 / K).abs() / wide[..., 0].square()
    assert bool(wide.isfinite().all())
    assert bool((wide[..., 0] > 0).all())
    assert gap.max().item() <= precision(like or x.dtype).sheet_tolerance


def tolerance_of_stacks(dtype: torch.dtype) -> dict[str, float]:
    """For outputs of several layers one behind the other, in whatever order a processor's kernels add."""
    return {"rtol": 1e-3, "atol": 5e-4} if dtype == torch.float32 else tolerance(dtype)


def tolerance(dtype: torch.dtype) -> dict[str, float]:
    """For values that went through a few dozen operations at ordinary radius."""
    return {"rtol": 2e-4, "atol": 2e-5} if dtype == torch.float32 else {"rtol": 1e-9, "atol": 1e-10}


def assert_same(got: Tensor, expected: Tensor, inputs, dtype: torch.dtype) -> None:
    """Equal values, and equal gradients of a random linear functional with respect to the inputs.

    In float64 every gradient must agree relative to its own norm. In float32 a small one may be the difference of large
    ones, so the largest norm counts for all.
    """
    torch.testing.assert_close(got, expected, **tolerance(dtype))
    pull = torch.randn_like(expected)
    ours, theirs = (gradients((value * pull).sum(), inputs) for value in (got, expected))
    largest = max(b.norm().item() for b in theirs)
    for a, b in zip(ours, theirs, strict=True):
        allowed = 2e-4 * largest if dtype == torch.float32 else 1e-11 * b.norm().item() + 1e-14
        assert (a - b).norm().item() <= allowed


def points(manifold, *size: int, dtype: torch.dtype, std: float = 0.5) -> Tensor:
    """Random points; ``std`` is in units of the radius of curvature, so that every K has the same conditioning."""
    return manifold.random_normal(*size, std=std * (-1 / manifold.curvature) ** 0.5, dtype=dtype).detach()


def linear(x, weight, bias, scale, K, *, activation=None, residual=None, gate="paper", gate_bias=True):
    """The normalised form: y_t = λ σ(v·x + b_0) + ε, z = W h(x) + b + r, y_s = z/|z| √(y_t² + 1/K)."""
    h = x if activation is None else activation(x)
    bias = weight.new_zeros(len(weight)) if bias is None else bias
    g = (x if gate == "paper" else h) @ weight[0]
    z = h @ weight[1:].T + bias[1:]
    if gate_bias:
        g = g + bias[0]
    if residual is not None:
        z = z + residual[..., 1:]
        g = g + (residual[..., 0] if gate == "paper_code" else 0.0)
    t = (scale * torch.sigmoid(g) + 1.1 * (-1.0 / K) ** 0.5).unsqueeze(-1)
    return torch.cat((t, z / z.square().sum(-1, keepdim=True).sqrt() * (t.square() + 1.0 / K).sqrt()), dim=-1)


def ungated(layer, x, residual=None):
    """The pure and the scaled form: y_s = g W x_s + a w_t x_t + l b + r_s, y_t = √(|y_s|² - 1/K), head by head."""
    K, scaled = layer.manifold.K, layer.form == "scaled"
    width = (layer.width or layer.in_features) - 1
    unit = 2.0 * (-1.0 / K) ** 0.5 / width**0.5 if scaled else 1.0
    time_unit = 2.0 / (5.0 * width) ** 0.5 if scaled else 1.0
    u = 0.0 if layer.bias is None else unit * layer.bias
    for point, weight in zip(x.chunk(layer.in_heads, -1), layer.weight.chunk(layer.in_heads, -1), strict=True):
        t, s = point[..., :1], point[..., 1:]
        if layer.activation is not None:
            s = unit * layer.activation(s / unit)
            t = (s.square().sum(-1, keepdim=True) - 1.0 / K).sqrt() if scaled else layer.activation(t)
        u = u + layer.in_unit * s @ weight[:, 1:].T + time_unit * t * weight[:, 0]
    heads = layer.num_heads or 1
    parts = u.chunk(heads, -1)
    if residual is not None:
        parts = [part + r[..., 1:] for part, r in zip(parts, residual.chunk(heads, -1), strict=True)]
    points = [torch.cat(((p.square().sum(-1, keepdim=True) - 1.0 / K).sqrt(), p), -1) for p in parts]
    return torch.stack(points, -2) if layer.num_heads else points[0]


def centroid(weights: Tensor, x: Tensor, K) -> Tensor:
    """μ = Σν_j x_j / (√-K |‖Σν_i x_i‖_L|) for each row of weights."""
    total = weights @ x
    return total / ((-K) ** 0.5 * inner(total, total).abs().sqrt()).unsqueeze(-1)


def weights(q: Tensor, k: Tensor, K, scale, mask: Tensor | None = None) -> Tensor:
    """softmax over keys of -s d²_L(q, k), from all n x n squared distances; boolean masks are True to attend."""
    square = 2.0 / K - 2.0 * inner(q.unsqueeze(-2), k.unsqueeze(-3))
    logits = -scale * square
    if mask is not None:
        logits = logits.masked_fill(~mask, -torch.inf) if mask.dtype == torch.bool else logits + mask
    return torch.softmax(logits, dim=-1)


def attention(q, k, v, K, scale, mask=None) -> Tensor:
    return centroid(weights(q, k, K, scale, mask), v, K)


def gradients(loss: Tensor, inputs) -> list[Tensor]:
    return list(torch.autograd.grad(loss, list(inputs)))
