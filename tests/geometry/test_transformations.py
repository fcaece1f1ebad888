"""Boosts and rotations: isometries of the hyperboloid, and errors for what is not."""

from __future__ import annotations

import pytest
import torch

from hybonet import geometry as G
from hybonet.testing import assert_on_sheet

from .cases import over_curvatures, over_dtypes, seeded


def lorentz_error(matrix: torch.Tensor) -> float:
    """How far A^T J A is from J, relative to the square of A's entries."""
    metric = torch.eye(matrix.shape[-1], dtype=torch.float64)
    metric[0, 0] = -1.0
    wide = matrix.double()
    return ((wide.mT @ metric @ wide - metric).abs().amax() / wide.square().amax()).item()


@over_dtypes
@pytest.mark.parametrize("rapidity", [0.0, 1.0, 4.0, 8.0])
def test_random_boosts_are_lorentz_transformations_at_any_rapidity(dtype, rapidity):
    matrix = G.random_boost(5, rapidity=rapidity, generator=seeded(), dtype=dtype)
    assert matrix.dtype == dtype
    assert lorentz_error(matrix) <= 8 * torch.finfo(dtype).eps
    torch.testing.assert_close(matrix, matrix.T)
    torch.testing.assert_close(matrix[0, 0].acosh(), torch.tensor(rapidity, dtype=dtype), rtol=1e-6, atol=1e-6)


@over_dtypes
def test_random_rotations_are_rotations(dtype):
    matrix = G.random_rotation(5, generator=seeded(), dtype=dtype)
    assert lorentz_error(matrix) <= 20 * torch.finfo(dtype).eps
    torch.testing.assert_close(torch.linalg.det(matrix[1:, 1:]), torch.ones((), dtype=dtype))
    assert (matrix[0, 1:] == 0).all()
    assert (matrix[1:, 0] == 0).all()


def test_random_rotations_have_no_preferred_direction():
    mean = torch.stack([G.random_rotation(3, generator=seeded(i)) for i in range(400)]).mean(0)
    # An entry of a uniform rotation has mean 0 and std 1/√3; so 400 of them average to 0 within 0.03, or 0.12 at 4 σ.
    assert mean[1:, 1:].abs().max() < 0.12


@over_dtypes
@over_curvatures
def test_isometries_keep_the_sheet_and_distances(dtype, K):
    x, y = G.random_normal(2, 20, 5, K=K, std=0.5, dtype=dtype, generator=seeded())
    tolerance = 1e3 * torch.finfo(dtype).eps
    for matrix in (
        G.random_boost(4, generator=seeded(1), dtype=dtype),
        G.random_rotation(4, generator=seeded(1), dtype=dtype),
        G.boost(torch.tensor([0.1, -0.7, 0.2, 0.3], dtype=dtype)),
    ):
        a, b = G.transform(matrix, x), G.transform(matrix, y)
        assert_on_sheet(a, manifold=G.Lorentz(K))
        torch.testing.assert_close(G.dist(a, b, K=K), G.dist(x, y, K=K), rtol=tolerance, atol=tolerance)
        assert (a - x).abs().max() > 0.1


@over_curvatures
def test_a_boost_moves_the_origin_by_its_rapidity(K):
    matrix = G.random_boost(4, rapidity=1.5, generator=seeded(), dtype=torch.float64)
    moved = G.transform(matrix, G.origin(5, K=K, dtype=torch.float64))
    torch.testing.assert_close(G.dist0(moved, K=K), torch.tensor(1.5 * (-1 / K) ** 0.5, dtype=torch.float64))


def test_boosts_are_undone_by_the_opposite_velocity_and_come_in_batches():
    velocity = 0.4 * torch.randn(3, 2, dtype=torch.float64, generator=seeded()).tanh()
    matrices = G.boost(velocity)
    assert matrices.shape == (3, 3, 3)
    torch.testing.assert_close(matrices @ G.boost(-velocity), torch.eye(3, dtype=torch.float64).expand(3, 3, 3))
    x = G.random_normal(3, 7, 3, K=-1.0, dtype=torch.float64)
    torch.testing.assert_close(G.transform(matrices, x)[1, 4], matrices[1] @ x[1, 4])
    assert G.rotation(torch.eye(2).expand(4, 2, 2)).shape == (4, 3, 3)


@pytest.mark.parametrize("velocity", [[1.0, 0.0], [0.8, 0.7], [float("nan"), 0.0], [float("inf"), 0.0]])
def test_superluminal_velocities_are_errors(velocity):
    with pytest.raises(ValueError, match="shorter than 1"):
        G.boost(torch.tensor(velocity))


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (torch.ones(2, 3), "square"),
        (torch.ones(3), "square"),
        (torch.ones(2, 2), "orthogonal"),
        (2 * torch.eye(2), "orthogonal"),
        (torch.full((2, 2), float("nan")), "orthogonal"),
        (torch.diag(torch.tensor([1.0, -1.0])), "reflection"),
    ],
)
def test_what_is_no_rotation_is_an_error(matrix, message):
    with pytest.raises(ValueError, match=message):
        G.rotation(matrix)
