"""The path through memory once, against the plain steps."""

import pytest
import torch
import torch.nn.functional as F

from hybonet import Lorentz, kernels
from hybonet.kernels import norm_clipping as module
from hybonet.kernels.norm_clipping import clip_norms, looked_up, products_with_points


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


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize(("length", "padding_idx"), [(1.0, None), (2.5, 3)])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_look_up_is_rows_with_their_time(manifold, dtype, fast, length, padding_idx, sparse):
    torch.manual_seed(0)
    index, gradient = torch.tensor([[5, 3, 3], [0, 5, 8]]), torch.randn(2, 3, 5, dtype=dtype)
    start = torch.randn(9, 5, dtype=dtype)
    start[8] = 3e38 if dtype == torch.float32 else 1e300  # is cut, and stands still
    results = []
    for fused in (True, False):
        table = start.clone().requires_grad_()
        with kernels.switched(fast):
            if fused:
                out = looked_up(table, index, manifold, length, padding_idx, sparse)
                assert "_LookedUp" in type(out.grad_fn).__name__
            else:
                out = module._in_plain_steps(length * F.embedding(index, table, padding_idx), None, manifold)
            out.backward(gradient)
        assert table.grad.is_sparse == (fused and sparse)
        results.append((out.detach(), table.grad.to_dense()))
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other)


def test_second_derivatives_of_a_look_up(manifold):
    torch.manual_seed(0)
    index, table = torch.tensor([1, 0, 1]), torch.randn(3, 4, dtype=torch.float64, requires_grad=True)

    def look_up(table):
        return looked_up(table, index, manifold, 2.0, None, False)

    assert torch.autograd.gradcheck(look_up, table)
    assert torch.autograd.gradgradcheck(look_up, table)


def test_points_that_are_none_stay_none():
    table = torch.ones(3, 4)
    table[1, 2] = torch.nan
    for fast in (False, True):
        with kernels.switched(fast):
            out = looked_up(table, torch.arange(3), Lorentz(), 1.0, None, False)
        assert out.isnan().any(-1).tolist() == [False, True, False]


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("wanted", [(True,) * 4, (False, True, False, False), (True, False, True, False)])
@pytest.mark.parametrize("options", [{}, {"length": 2.0, "origin": 1.5}, {"constant": 0.7}])
def test_products_with_points_and_their_derivatives(manifold, wanted, fast, options):
    torch.manual_seed(0)
    inputs = [torch.randn(size, dtype=torch.float64) for size in ((2, 3, 4), (5, 4), (5,), ())]
    x, rows, bias, factor = (t.requires_grad_(asked) for t, asked in zip(inputs, wanted, strict=True))
    gradient, results = torch.randn(2, 3, 5, dtype=torch.float64), []
    leaves = [t for t in (x, rows, bias, factor) if t.requires_grad]

    def fused(*_):
        return products_with_points(x, rows, bias, manifold, factor=factor, **options)

    with kernels.switched(fast):
        out = fused()
        assert "_ProductsWithPoints" in type(out.grad_fn.next_functions[0][0]).__name__
        points = module._in_plain_steps(rows * options.get("length", 1.0), None, manifold)
        shifted = x - torch.tensor([options.get("origin", 0.0), 0.0, 0.0, 0.0])
        plain = factor * (manifold.cinner(shifted, points) + options.get("constant", 0.0)) + bias
        for each in (out, out, plain):  # a graph may be gone through again
            results.append((each, *torch.autograd.grad(each, leaves, gradient, retain_graph=True)))
    for one in results[:2]:
        torch.testing.assert_close(one, results[2])
    for leaf in leaves:  # each alone
        torch.testing.assert_close(
            torch.autograd.grad(fused(), leaf, gradient), torch.autograd.grad(plain, leaf, gradient, retain_graph=True)
        )
    assert torch.autograd.gradgradcheck(fused, leaves)
    alone = products_with_points(x.detach(), rows.detach(), None, manifold, **options)
    expected = manifold.cinner(shifted, points) + options.get("constant", 0.0)
    torch.testing.assert_close(alone, expected.detach())


def test_products_with_points_too_far_out():
    x, gradient, results = Lorentz().random_normal(3, 4), torch.randn(3, 2), []
    for fused in (False, True):
        rows = torch.tensor([[0.0, 1e30, 1.0, 0.0], [0.0, 1.0, 2.0, 3.0]], requires_grad=True)
        if fused:
            out = products_with_points(x, rows, None, Lorentz())
        else:
            out = Lorentz().cinner(x, module._in_plain_steps(rows, None, Lorentz()))
        out.backward(gradient)
        results.append((out.detach(), rows.grad))
    assert not results[1][1][0, :2].any()  # what was cut stands still
    torch.testing.assert_close(*results)
