"""Centroid pooling, with padding and weights."""

import pytest
import torch

from hybonet.geometry import centroid
from hybonet.nn import LorentzCentroidPooling

from . import plain


def test_is_the_centroid(manifold, dtype):
    pool = LorentzCentroidPooling(manifold)
    x = plain.points(manifold, 3, 5, 4, dtype=dtype)
    y = pool(x)
    plain.assert_on_sheet(y, manifold.K)
    torch.testing.assert_close(y, centroid(x, K=manifold.K), **plain.tolerance(dtype))
    weights = torch.rand(3, 5, dtype=dtype)
    torch.testing.assert_close(pool(x, weights=weights), centroid(x, weights, K=manifold.K), **plain.tolerance(dtype))
    torch.testing.assert_close(pool(x, weights=7e3 * weights), pool(x, weights=weights), **plain.tolerance(dtype))


def test_padding_is_left_out(manifold, dtype):
    pool = LorentzCentroidPooling(manifold)
    x = plain.points(manifold, 2, 5, 4, dtype=dtype)
    weights = torch.rand(2, 5, dtype=dtype)
    mask = torch.tensor([[False] * 3 + [True] * 2, [False] * 5])
    torch.testing.assert_close(pool(x, mask)[0], pool(x[:1, :3])[0])
    torch.testing.assert_close(pool(x, mask)[1], pool(x)[1])
    torch.testing.assert_close(pool(x, mask, weights)[0], pool(x[:1, :3], weights=weights[:1, :3])[0])


def test_nothing_to_pool_is_the_origin_with_finite_gradients(manifold, dtype):
    pool = LorentzCentroidPooling(manifold)
    x = plain.points(manifold, 2, 5, 4, dtype=dtype).requires_grad_()
    nothing = torch.tensor([[True] * 5, [False] * 5])
    for options in ({"mask": nothing}, {"weights": 1.0 - nothing.float()}):
        y = pool(x, **options)
        torch.testing.assert_close(y[0], manifold.origin(4, dtype=dtype))
        (grad,) = plain.gradients((y * torch.randn_like(y)).sum(), [x])
        assert bool((grad[0] == 0).all())
        assert bool(grad[1].isfinite().all())
        assert bool((grad[1] != 0).all())


def test_mistakes_are_explained():
    pool = LorentzCentroidPooling()
    x = pool.manifold.random_normal(2, 5, 4)
    with pytest.raises(ValueError, match=r"expected mask of shape \(2, 5\), got \(5,\)"):
        pool(x, torch.zeros(5, dtype=torch.bool))
    with pytest.raises(ValueError, match=r"expected weights of shape \(2, 5\), got \(2, 5, 1\)"):
        pool(x, weights=torch.ones(2, 5, 1))
