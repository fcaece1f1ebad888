"""Numbers along edges against dense formulas, with their gradients; repeated edges and nodes without any included."""

import torch

from hybonet.kernels.sparse_edges import EdgePattern, edge_products, edge_sums

EDGES = torch.tensor([[3, 0, 0, 2, 2, 4], [1, 1, 2, 0, 0, 4]])  # 2 -> 0 twice, 3 has no sources


def test_against_dense():
    pattern = EdgePattern.of(EDGES, 5)
    a, b = torch.randn(5, 3, dtype=torch.float64), torch.randn(5, 3, dtype=torch.float64)
    assert sorted(zip(pattern.columns.tolist(), pattern.rows.tolist(), strict=True)) == sorted(
        map(tuple, EDGES.T.tolist())
    )
    torch.testing.assert_close(edge_products(a, b, pattern), (a @ b.T)[pattern.rows, pattern.columns])
    weights = torch.rand(6, dtype=torch.float64)
    dense = torch.zeros(5, 5, dtype=torch.float64).index_put((pattern.rows, pattern.columns), weights, accumulate=True)
    torch.testing.assert_close(edge_sums(weights, b, pattern), dense @ b)
    torch.testing.assert_close(pattern.transposed(weights).to_dense(), dense.T)


def test_gradients():
    pattern = EdgePattern.of(EDGES, 5)
    a, b, weights = (torch.randn(size, dtype=torch.float64, requires_grad=True) for size in ((5, 3), (5, 3), (6,)))
    assert torch.autograd.gradcheck(lambda a, b: edge_products(a, b, pattern), (a, b))
    assert torch.autograd.gradcheck(lambda w, x: edge_sums(w, x, pattern), (weights, b))
