"""Training: the loss against its formula, learning, reproducibility, bad settings."""

import math

import pytest
import torch
from pydantic import ValidationError

from hybonet import Lorentz
from hybonet.data import Hierarchy
from hybonet.nn import LorentzEmbedding
from hybonet.tasks.hierarchy_embedding import (
    HierarchyEmbeddingConfig,
    Progress,
    all_distances,
    ranking_loss,
    train,
)

BINARY = Hierarchy.from_edges([(f"n{i:02d}", f"n{i // 2:02d}") for i in range(2, 32)])
QUICK = HierarchyEmbeddingConfig(epochs=15, negatives=20, batch_size=64)


def test_loss_is_the_softmax_over_unrelated_negatives() -> None:
    torch.manual_seed(0)
    table = LorentzEmbedding(len(BINARY), 4, manifold=Lorentz(-0.7), dtype=torch.float64)
    pairs, negatives = BINARY.closure[::3], torch.tensor([0, 3, 7, 20, 30])
    loss = ranking_loss(table, pairs, negatives, BINARY.is_ancestor, 0.5)
    distances = all_distances(table.weight.detach(), table.manifold) / 0.5
    expected = []
    for u, v in pairs.tolist():
        allowed = [w for w in negatives.tolist() if w != u and not BINARY.is_ancestor[u, w]]
        toward = math.exp(-distances[u, v])
        expected.append(-math.log(toward / (toward + sum(math.exp(-distances[u, w]) for w in allowed))))
    assert loss.item() == pytest.approx(sum(expected) / len(expected), rel=1e-9)


def test_a_node_without_negatives_gives_no_gradient() -> None:
    table = LorentzEmbedding(3, 3, dtype=torch.float64)
    is_ancestor = torch.zeros(3, 3, dtype=torch.bool)
    is_ancestor[0, 1:] = True
    loss = ranking_loss(table, torch.tensor([[0, 1]]), torch.tensor([0, 2]), is_ancestor, 1.0)
    loss.backward()
    assert loss.item() == 0.0
    assert table.weight.grad is not None
    assert not table.weight.grad.any()


@pytest.mark.parametrize(("dim", "start"), [(3, "layout"), (5, "random")])
def test_training_reconstructs_a_tree(dim: int, start: str) -> None:
    config = HierarchyEmbeddingConfig(epochs=100, dim=dim, start=start, start_radius=2.0, negatives=30)
    trained = train(config, BINARY)
    assert trained.final.mean_rank < min(1.3, trained.start.mean_rank)
    assert trained.final.mean_average_precision > max(0.9, trained.start.mean_average_precision)
    weight = trained.table.weight.detach()
    assert trained.table.manifold.check_point(weight)
    assert trained.table.manifold.dist0(weight).max() <= config.max_radius + 1e-6


def test_same_seed_same_numbers_other_seed_others() -> None:
    first, again = train(QUICK, BINARY), train(QUICK, BINARY)
    assert torch.equal(first.table.weight, again.table.weight)
    assert first.final == again.final
    other = train(QUICK.model_copy(update={"seed": 1}), BINARY)
    assert not torch.equal(first.table.weight, other.table.weight)


def test_the_callers_random_state_is_left_alone() -> None:
    torch.manual_seed(7)
    expected = torch.rand(1)
    torch.manual_seed(7)
    train(QUICK.model_copy(update={"epochs": 1}), BINARY)
    assert torch.equal(torch.rand(1), expected)


@pytest.mark.parametrize(
    "change",
    [
        {"dim": 4}, {"K": -0.5}, {"epochs": 5}, {"batch_size": 16}, {"negatives": 5}, {"lr": 0.1}, {"temperature": 0.5},
        {"start": "random"}, {"start_radius": 2.0}, {"start_std": 0.1}, {"max_radius": 4.0}, {"seed": 3},
    ],
)  # fmt: skip
def test_every_setting_changes_the_result(change: dict[str, object]) -> None:
    base = QUICK.model_copy(update={"epochs": 6})
    one, other = train(base, BINARY), train(base.model_copy(update=change), BINARY)
    assert one.table.weight.shape != other.table.weight.shape or not torch.equal(one.table.weight, other.table.weight)


def test_every_setting_is_in_the_table_above() -> None:
    assert len(HierarchyEmbeddingConfig.model_fields) == 12


def test_progress_is_reported_after_every_epoch() -> None:
    reports: list[Progress] = []
    trained = train(QUICK.model_copy(update={"epochs": 3}), BINARY, reports.append)
    assert [report.epoch for report in reports] == [1, 2, 3]
    assert reports[-1].epochs == 3
    assert reports[-1].loss == trained.loss


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"dim": 2}, "greater than or equal to 3"),
        ({"K": 0.0}, "less than 0"),
        ({"K": float("-inf")}, "finite"),
        ({"epochs": 0}, "greater than or equal to 1"),
        ({"epochs": 1.5}, "integer"),
        ({"lr": float("nan")}, "finite"),
        ({"start": "tree"}, "'layout' or 'random'"),
        ({"max_radius": 100}, "less than or equal to 16"),
        ({"epoch": 3}, "did you mean 'epochs'"),
        ({"xyzzy": 3}, "known: dim, K"),
    ],
)
def test_bad_settings(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        HierarchyEmbeddingConfig(**settings)  # type: ignore[arg-type]


def test_hierarchies_that_cannot_be_ranked(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="single chain of 3 nodes"):
        train(QUICK, Hierarchy.from_edges([("a", "b"), ("b", "c")]))
    monkeypatch.setattr("hybonet.tasks.hierarchy_embedding.MAX_NODES", 30)
    with pytest.raises(ValueError, match="at most 30 nodes, got 31"):
        train(QUICK, BINARY)
