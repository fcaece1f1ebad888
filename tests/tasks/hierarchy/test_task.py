"""Training: the loss against its formula, learning, reproducibility, bad settings."""

import math
from pathlib import Path

import pytest
import torch
from pydantic import ValidationError
from torch import Tensor

from hybonet import Lorentz
from hybonet.data import Hierarchy
from hybonet.nn import LorentzEmbedding
from hybonet.tasks.hierarchy.task import HierarchySettings, HierarchyTask, measure, ranking_loss
from hybonet.training import LoopSettings, Trainer

BINARY = Hierarchy.from_edges([(f"n{i:02d}", f"n{i // 2:02d}") for i in range(2, 32)])
QUICK = HierarchySettings(epochs=15, negatives=20, batch_size=64)


def train(settings: HierarchySettings, folder: Path) -> Tensor:
    """The points of a training."""
    folder.mkdir(exist_ok=True)
    task = HierarchyTask(settings, BINARY)
    return task.points(Trainer(task, folder).fit().model)


def test_loss_is_the_softmax_over_unrelated_negatives() -> None:
    torch.manual_seed(0)
    table = LorentzEmbedding(len(BINARY), 4, manifold=Lorentz(-0.7), dtype=torch.float64, form="paper")
    pairs, negatives = BINARY.closure[::3], torch.tensor([0, 3, 7, 20, 30])
    loss = ranking_loss(table, table.manifold, pairs, negatives, BINARY.are_ancestors, 0.5)
    points = table.points().detach()
    distances = table.manifold.dist(points[:, None], points) / 0.5
    expected = []
    for u, v in pairs.tolist():
        allowed = [w for w in negatives.tolist() if w != u and not BINARY.is_ancestor[u, w]]
        toward = math.exp(-distances[u, v])
        expected.append(-math.log(toward / (toward + sum(math.exp(-distances[u, w]) for w in allowed))))
    assert loss.item() == pytest.approx(sum(expected) / len(expected), rel=1e-9)


def test_a_node_without_negatives_gives_no_gradient() -> None:
    table = LorentzEmbedding(3, 3, dtype=torch.float64, form="paper")
    both = Hierarchy.from_edges([("a", "b"), ("a", "c")])
    loss = ranking_loss(table, table.manifold, torch.tensor([[0, 1]]), torch.tensor([0, 2]), both.are_ancestors, 1.0)
    loss.backward()
    assert loss.item() == 0.0
    assert table.weight.grad is not None
    assert not table.weight.grad.any()


@pytest.mark.parametrize(("dim", "start"), [(3, "layout"), (5, "random")])
def test_training_reconstructs_a_tree(tmp_path: Path, dim: int, start: str) -> None:
    settings = HierarchySettings(epochs=100, dim=dim, start=start, start_radius=2.0, negatives=30)
    task = HierarchyTask(settings, BINARY)
    points = train(settings, tmp_path)
    before, after = (measure(each, BINARY, task.manifold) for each in (task.start(), points))
    assert after.mean_rank < min(1.3, before.mean_rank)
    assert after.mean_average_precision > max(0.9, before.mean_average_precision)
    assert task.manifold.check_point(points)
    assert task.manifold.dist0(points).max() <= settings.max_radius + 1e-6


def test_points_stay_within_the_largest_radius(tmp_path: Path) -> None:
    settings = HierarchySettings(epochs=30, lr=1.0, max_radius=3.0, K=-0.5)
    radius = HierarchyTask(settings, BINARY).manifold.dist0(train(settings, tmp_path)).max().item()
    assert radius == pytest.approx(3.0 / math.sqrt(0.5))  # reached, and not passed


def test_same_seed_same_numbers_other_seed_others(tmp_path: Path) -> None:
    first, again = train(QUICK, tmp_path / "first"), train(QUICK, tmp_path / "again")
    assert torch.equal(first, again)
    assert not torch.equal(first, train(QUICK.model_copy(update={"seed": 1}), tmp_path / "other"))


CHANGES: list[dict[str, object]] = [
    {"dim": 4}, {"K": -0.5}, {"batch_size": 16}, {"negatives": 5}, {"lr": 0.1}, {"temperature": 0.5},
    {"start": "random"}, {"start_radius": 2.0}, {"start_std": 0.1}, {"max_radius": 4.0},
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_every_setting_changes_the_result(tmp_path: Path, change: dict[str, object]) -> None:
    base = QUICK.model_copy(update={"epochs": 6})
    one, other = train(base, tmp_path / "one"), train(base.model_copy(update=change), tmp_path / "other")
    assert one.shape != other.shape or not torch.equal(one, other)


def test_every_setting_is_in_the_table_above() -> None:
    own = HierarchySettings.model_fields.keys() - LoopSettings.model_fields.keys()
    assert own == {name for change in CHANGES for name in change}


def test_an_epoch_has_every_pair_once_and_goes_on_anywhere() -> None:
    task = HierarchyTask(QUICK, BINARY)
    whole = list(task.batches(3, 0))
    assert len(whole) == task.batches_per_epoch() == 2
    assert sorted(torch.cat([batch.pairs for batch in whole]).tolist()) == BINARY.closure.tolist()
    assert all(len(batch.negatives.unique()) == QUICK.negatives for batch in whole)
    (rest,) = task.batches(3, 1)
    assert torch.equal(rest.pairs, whole[1].pairs)
    assert torch.equal(rest.negatives, whole[1].negatives)
    shares = [next(task.batches(3, 0, rank, 2)) for rank in (0, 1)]
    assert sorted(torch.cat([share.pairs for share in shares]).tolist()) == sorted(whole[0].pairs.tolist())


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
        ({"xyzzy": 3}, "known: epochs, "),
    ],
)
def test_bad_settings(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        HierarchySettings(**settings)  # type: ignore[arg-type]


def test_a_sample_of_a_large_hierarchy_is_measured_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    task = HierarchyTask(QUICK, BINARY)
    whole = measure(task.start(), BINARY, task.manifold)
    for name in ("_EXACT", "_ALL"):
        monkeypatch.setattr(f"hybonet.tasks.hierarchy.task.{name}", 10)
    sampled = measure(task.start(), BINARY, task.manifold)  # all of them, by other distances
    assert sampled.mean_rank == pytest.approx(whole.mean_rank)
    assert sampled.mean_average_precision == pytest.approx(whole.mean_average_precision)
    monkeypatch.setattr("hybonet.tasks.hierarchy.task._SAMPLE", 5)
    assert measure(task.start(), BINARY, task.manifold) != sampled


def test_hierarchies_that_cannot_be_ranked(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="single chain of 3 nodes"):
        HierarchyTask(QUICK, Hierarchy.from_edges([("a", "b"), ("b", "c")]))
    monkeypatch.setattr("hybonet.tasks.hierarchy.task.MAX_NODES", 30)
    with pytest.raises(ValueError, match="at most 30 nodes, got 31"):
        HierarchyTask(QUICK, BINARY)
