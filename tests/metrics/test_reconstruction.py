"""Mean rank and mean average precision against a plain-Python reading of the protocol."""

import random

import pytest
import torch
from torch import Tensor

from hybonet.metrics import reconstruction


def slow_reconstruction(distances: list[list[float]], is_ancestor: list[list[bool]]) -> tuple[float, float]:
    ranks, precisions = [], []
    for u, row in enumerate(distances):
        ancestors = [v for v in range(len(row)) if is_ancestor[u][v]]
        others = [v for v in range(len(row)) if v != u and not is_ancestor[u][v]]
        at_ancestors = []
        for v in ancestors:
            wrong = sum(1 for w in others if row[w] <= row[v])
            right = sum(1 for w in ancestors if row[w] <= row[v])
            ranks.append(1 + wrong)
            at_ancestors.append(right / (right + wrong))
        if ancestors:
            precisions.append(sum(at_ancestors) / len(at_ancestors))
    return sum(ranks) / len(ranks), sum(precisions) / len(precisions)


def random_case(seed: int, nodes: int, levels: int) -> tuple[Tensor, Tensor]:
    """Distances of few levels have many ties; those of many have none."""
    rng = random.Random(seed)
    distances = torch.tensor([[float(rng.randrange(levels)) for _ in range(nodes)] for _ in range(nodes)])
    mask = torch.tensor([[rng.random() < 0.2 for _ in range(nodes)] for _ in range(nodes)])
    mask.fill_diagonal_(False)
    mask[0] = False  # a root
    return distances, mask


@pytest.mark.parametrize("levels", [3, 10**9])
@pytest.mark.parametrize(("seed", "nodes"), [(0, 5), (1, 30), (2, 300)])
def test_equals_the_slow_reading(seed: int, nodes: int, levels: int) -> None:
    distances, mask = random_case(seed, nodes, levels)
    result = reconstruction(distances, mask)
    mean_rank, precision = slow_reconstruction(distances.tolist(), mask.tolist())
    assert result.mean_rank == pytest.approx(mean_rank, abs=1e-12)
    assert result.mean_average_precision == pytest.approx(precision, abs=1e-12)


def test_perfect_and_collapsed_embeddings() -> None:
    mask = torch.zeros(5, 5, dtype=torch.bool)
    mask[1:, 0] = True
    perfect = torch.full((5, 5), 2.0)
    perfect[:, 0] = 1.0
    assert reconstruction(perfect, mask).mean_rank == 1.0
    assert reconstruction(perfect, mask).mean_average_precision == 1.0
    # All points in one place must not count as a success.
    collapsed = reconstruction(torch.zeros(5, 5), mask)
    assert collapsed.mean_rank == 4.0
    assert collapsed.mean_average_precision == 0.25


def test_only_the_order_of_distances_matters() -> None:
    distances, mask = random_case(3, 40, 10**6)
    assert reconstruction(distances, mask) == reconstruction(distances.double().log1p() * 3, mask)


@pytest.mark.parametrize(
    ("distances", "mask", "message"),
    [
        (torch.zeros(3, 4), torch.zeros(3, 4, dtype=torch.bool), r"\(3, 4\)"),
        (torch.zeros(3, 3), torch.ones(2, 2, dtype=torch.bool), r"\(2, 2\)"),
        (torch.full((2, 2), torch.nan), torch.ones(2, 2, dtype=torch.bool), "finite distances"),
        (torch.zeros(2, 2), torch.zeros(2, 2, dtype=torch.bool), "at least one"),
    ],
)
def test_bad_inputs(distances: Tensor, mask: Tensor, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        reconstruction(distances, mask)
