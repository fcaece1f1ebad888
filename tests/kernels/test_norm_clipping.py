"""The path through memory once, against the plain steps."""

import pytest
import torch

from hybonet.kernels import norm_clipping as module
from hybonet.kernels.norm_clipping import clip_norms


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", 16)


def test_values_and_gradients_are_those_of_the_plain_steps(manifold, dtype):
    torch.manual_seed(0)
    rows = torch.randn(3, 7, 5, dtype=dtype)
    rows[0, 0] = 0  # a row at the origin
    rows[0, 1] = torch.tensor([0.0, 1.0, 0.0, 0.0, 0.0])  # and one just as long as may be
    gradient = torch.randn_like(rows)
    results = []
    for path in (clip_norms, module._in_plain_steps):
        leaf = rows.clone().requires_grad_()
        out = path(leaf, 1.0, manifold)
        results.append((out, *torch.autograd.grad(out, leaf, gradient)))
    assert "_ClipNorms" in type(clip_norms(leaf, 1.0, manifold).grad_fn).__name__
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other)


def test_first_and_second_derivatives_by_finite_differences(manifold):
    torch.manual_seed(0)
    rows = torch.randn(6, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: clip_norms(x, 1.2, manifold), rows)
    assert torch.autograd.gradgradcheck(lambda x: clip_norms(x, 1.2, manifold), rows)


@pytest.mark.parametrize("value", [1e-30, 1e18, 3e38])
def test_rows_of_any_length_have_finite_points_and_gradients(manifold, value):
    rows = torch.full((4, 8), value, requires_grad=True)
    out = clip_norms(rows, 1.5, manifold)
    out.sum().backward()
    assert bool(out.isfinite().all())
    assert bool(rows.grad.isfinite().all())


def test_without_a_bound_only_time_is_made(manifold, dtype):
    torch.manual_seed(0)
    rows = torch.randn(3, 7, 5, dtype=dtype)
    gradient = torch.randn_like(rows)
    results = []
    for path in (clip_norms, module._in_plain_steps):
        leaf = rows.clone().requires_grad_()
        out = path(leaf, None, manifold)
        results.append((out, *torch.autograd.grad(out, leaf, gradient)))
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other)
    wide = rows.double().requires_grad_()
    assert torch.autograd.gradgradcheck(lambda x: clip_norms(x, None, manifold), wide)
    far = torch.full((4, 8), 3e38, requires_grad=True)
    clip_norms(far, None, manifold).sum().backward()
    assert bool(far.grad.isfinite().all())
