"""Both ways of a map for each row give the values and gradients of a copied matrix for each row."""

import pytest
import torch

from hybonet.tasks.knowledge_graph.models import grouped_linear as module
from hybonet.tasks.knowledge_graph.models.grouped_linear import grouped_linear
from hybonet.tasks.knowledge_graph.models.triple_scorer import TripleScorer

pytestmark = pytest.mark.usefixtures("either_way")


@pytest.mark.parametrize("small", [0, 1 << 13], ids=["by group", "in blocks"])
@pytest.mark.parametrize(("rows", "groups"), [(1, 5), (7, 5), (40, 3), (40, 1), (16, 2)])
def test_values_and_gradients_are_those_of_copied_matrices(small, rows, groups, monkeypatch):
    monkeypatch.setattr(module, "_SMALL", small)
    torch.manual_seed(0)
    weight = torch.randn(groups, 4, 3, dtype=torch.float64)
    x, group = torch.randn(rows, 3, dtype=torch.float64), torch.randint(groups, (rows,))
    results = []
    for ours in (True, False):
        a, w = x.clone().requires_grad_(), weight.clone().requires_grad_()
        out = grouped_linear(a, w, group) if ours else torch.einsum("bmn,bn->bm", w[group], a)
        out.square().sum().backward()
        results.append((out, a.grad, w.grad))
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("transform", ["lorentz", "tangent"])
def test_a_scorer_asks_many_by_one_relation_in_one_product(transform, monkeypatch):
    """Both directions map all entities by one relation: sorting them by relation would be for nothing."""
    torch.manual_seed(0)
    scorer = TripleScorer(20, 3, 6, symmetric=[1], transform=transform).eval()
    heads = torch.arange(20)
    each = scorer.question(heads, torch.full((20,), 4))
    monkeypatch.setattr(module, "_InBlocks", None)
    torch.testing.assert_close(scorer.question(heads, torch.tensor(4).expand(20)), each)


@pytest.mark.parametrize("small", [0, 1 << 13], ids=["by group", "in blocks"])
def test_gradients_by_finite_differences(small, monkeypatch):
    monkeypatch.setattr(module, "_SMALL", small)
    torch.manual_seed(0)
    x = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(3, 2, 3, dtype=torch.float64, requires_grad=True)
    group = torch.tensor([2, 0, 2, 2])
    assert torch.autograd.gradcheck(lambda a, w: grouped_linear(a, w, group), (x, weight))


@pytest.mark.parametrize("small", [0, 1 << 13], ids=["by group", "in blocks"])
def test_no_rows(small, monkeypatch):
    monkeypatch.setattr(module, "_SMALL", small)
    nobody = torch.zeros(0, dtype=torch.long)
    assert grouped_linear(torch.ones(0, 3), torch.ones(5, 2, 3), nobody).shape == (0, 2)
