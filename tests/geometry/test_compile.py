"""torch.compile without graph breaks, and torch.func's transforms."""

from __future__ import annotations

import pytest
import torch

from hybonet import geometry as G

from . import exact
from .cases import pairs, seeded

K = -0.7


@pytest.fixture(autouse=True)
def _fresh_compiler():
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def points(*size: int) -> torch.Tensor:
    return G.random_normal(*size, 4, K=K, dtype=torch.float64, generator=seeded())


FUNCTIONS = {
    "dist": lambda x, y, K: G.dist(x, y, K=K),
    "expmap": lambda x, y, K: G.expmap(x, y, K=K),
    "logmap": lambda x, y, K: G.logmap(x, y, K=K),
    "transp": lambda x, y, K: G.transp(x, y, y, K=K),
    "centroid": lambda x, y, K: G.centroid(x, y[..., 0], K=K),
    "to_sheet": lambda x, y, K: G.to_sheet(x + y, K=K),
}


@pytest.mark.parametrize("name", ["expmap", "logmap"])
def test_one_graph(name):
    """Traced whole; differentiation and code generation are left out for their cost (but see the next two tests)."""
    x, y = points(2, 5)
    compiled = torch.compile(FUNCTIONS[name], fullgraph=True, backend="eager")
    torch.testing.assert_close(compiled(x, y, K), FUNCTIONS[name](x, y, K))


def test_one_graph_forward_and_backward():
    """Traced and differentiated ahead of time, with a learned curvature; the centroid contains the distance."""
    x, y = (p.requires_grad_() for p in points(2, 5))
    inputs = (x, y, torch.tensor(K, dtype=torch.float64, requires_grad=True))
    compiled = torch.compile(FUNCTIONS["centroid"], fullgraph=True, backend="aot_eager")
    value, truth = compiled(*inputs), FUNCTIONS["centroid"](*inputs)
    torch.testing.assert_close(value, truth)
    for grad, expected in zip(
        torch.autograd.grad(value.sum(), inputs), torch.autograd.grad(truth.sum(), inputs), strict=True
    ):
        torch.testing.assert_close(grad, expected)


def test_generated_code_keeps_the_error_bound():
    """The compiler may not re-associate the sums that the float32 bound rests on."""
    xs, ys, _ = pairs(torch.float32, K, 8.0, 1.0, "random")
    compiled = torch.compile(G.Lorentz(K).dist, fullgraph=True)
    for value, x, y in zip(compiled(G.lift(xs, K=K), G.lift(ys, K=K)), xs, ys, strict=True):
        assert exact.relative_error(value, exact.dist(exact.point(x, K), exact.point(y, K), K)) <= 1e-6


@pytest.mark.parametrize("name", ["dist", "expmap", "logmap", "transp", "to_sheet"])
def test_vmap(name):
    x, y = points(2, 5)
    function = FUNCTIONS[name]
    torch.testing.assert_close(torch.func.vmap(lambda a, b: function(a, b, K))(x, y), function(x, y, K))
    torch.testing.assert_close(torch.func.vmap(lambda a: function(a, y[0], K))(x), function(x, y[:1], K))


@pytest.mark.parametrize("name", ["dist", "logmap", "to_sheet"])
def test_per_sample_gradients(name):
    x, y = points(2, 5)
    x.requires_grad_()
    function = FUNCTIONS[name]
    grads = torch.func.vmap(torch.func.grad(lambda a, b: function(a, b, K).sum()))(x, y)
    (expected,) = torch.autograd.grad(function(x, y, K).sum(), x)
    torch.testing.assert_close(grads, expected)


@pytest.mark.parametrize("name", ["dist", "logmap", "to_sheet"])
def test_a_backward_may_outlive_its_transform(name):
    x, y = points(2, 5)
    function = FUNCTIONS[name]
    out, backward = torch.func.vjp(lambda a: function(a, y, K), x)
    along = torch.linspace(-1.0, 1.0, out.numel(), dtype=out.dtype).view_as(out)
    x.requires_grad_()
    (expected,) = torch.autograd.grad(function(x, y, K), x, along)
    torch.testing.assert_close(backward(along)[0], expected)
    torch.testing.assert_close(
        torch.func.vmap(backward)(torch.stack((along, -along)))[0], torch.stack((expected, -expected))
    )


def test_hessian_of_sqdist_at_the_same_point_is_the_metric():
    """d² = |v|² for small v; so in the chart, half its second derivative is I - x x^T / x_t²."""
    x = points(1)[0]
    hessian = torch.func.jacrev(torch.func.jacrev(lambda s: G.sqdist(G.lift(s, K=K), x, K=K)))(x[1:])
    metric = torch.eye(3, dtype=torch.float64) - x[1:, None] * x[None, 1:] / x[0] ** 2
    torch.testing.assert_close(hessian / 2, metric)
