r"""Train probes on the states of a frozen encoder: every layer at once, distances and depths.

For a sentence of l words with tree distances :math:`d_T` and depths :math:`d_D` the losses are

.. math:: \frac{1}{l^2}\sum_{i,j} |d_T(i, j) - d(q_i, q_j)| \quad\text{and}\quad \frac{1}{l}\sum_i |d_D(i) - d(q_i, o)|,

with the squared distances of the probe, averaged over the sentences of a batch and added up over layers. No two layers
share a parameter and Adam treats each parameter by itself, so every probe is trained as if it were alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from hybonet.data.trees.dependency_tree import DependencyTree
from hybonet.data.trees.loading import SPLITS
from hybonet.geometry import Lorentz
from hybonet.metrics.probing import PROTOCOL, ProbeMeter, ProbeScores
from hybonet.tasks.probing.models.tree_probe import TreeProbes
from hybonet.tasks.probing.settings import LorentzSettings, ProbeSettings
from hybonet.training import generator_for

#: Predicted distances held at once while measuring.
_AT_ONCE = 2_000_000


@dataclass(frozen=True, eq=False)
class ProbeSplit:
    """Trees, and the states of their words in order; ``states (words, layers, d)``."""

    trees: tuple[DependencyTree, ...]
    states: Tensor

    def __post_init__(self) -> None:
        words = sum(map(len, self.trees))
        if self.states.dim() != 3 or len(self.states) != words:
            raise ValueError(
                f"expected states for {words:,} words of {len(self.trees):,} sentences, shape ({words}, layers, d), "
                f"got {tuple(self.states.shape)}; give one vector for every word of the treebank"
            )

    @cached_property
    def starts(self) -> list[int]:
        """The place of each sentence's first word."""
        starts, place = [], 0
        for tree in self.trees:
            starts.append(place)
            place += len(tree)
        return starts

    @cached_property
    def gold(self) -> list[tuple[Tensor, Tensor]]:
        """Distances and depths of every sentence."""
        return [(tree.distances.to(torch.int16), tree.depths.to(torch.int16)) for tree in self.trees]

    def shuffled(self, seed: int, name: str) -> ProbeSplit:
        """With the words of every sentence in each other's places of its tree, drawn by seed, split and number."""
        numbers, place = range(len(self.trees)), SPLITS.index(name)
        trees = tuple(_shuffled(self.trees[number], generator_for(seed, place, number)) for number in numbers)
        return replace(self, trees=trees)


@dataclass(frozen=True)
class Batch:
    """Sentences padded to one length: states of their words, where each word is, and what is to be predicted."""

    states: Tensor  # (layers, words, d)
    place: Tensor  # (sentences, n), -1 where a sentence has ended
    distances: Tensor  # (sentences, n, n)
    depths: Tensor  # (sentences, n)


@dataclass(frozen=True)
class ProbeData:
    """What is probed: the splits' states and trees, and where they come from."""

    splits: dict[str, ProbeSplit]
    #: The manifold that states are points of, or None.
    manifold: Lorentz | None
    #: The encoder's numbers of the layers that are probed.
    layers: tuple[int, ...]
    #: What records say of encoder and treebank.
    about: dict[str, Any]

    @property
    def notes(self) -> tuple[str, ...]:
        """What is odd about the data."""
        data = self.about.get("data", {})
        counts = ", ".join(f"{count} of {split}" for split, count in data.get("too_long", {}).items() if count)
        notes = [f"sentences too long for the encoder are left out: {counts}"] if counts else []
        # Parts without a checksum of their own were taken out of train.
        held = [f"{data[split]} for {split}" for split in SPLITS[1:] if split not in data.get("sha256", SPLITS)]
        return (*notes, *([f"every tenth sentence is held out: {' and '.join(held)}"] if held else []))

    def without_test(self) -> ProbeData:
        """What a search may know."""
        return replace(self, splits={name: split for name, split in self.splits.items() if name != "test"})


def build_probes(settings: ProbeSettings, states: Tensor, manifold: Lorentz | None) -> TreeProbes:
    """Probes for states ``(words, layers, d)``, of any treebank."""
    layers, features = states.shape[1:]
    own: dict[str, Any] = {}
    if isinstance(settings, LorentzSettings):
        own = {"form": settings.form, "scale": settings.scale, "K": settings.K}
    return TreeProbes(settings.probe, layers, features, settings.dim, states=manifold, **own)


class TreeProbingTask:
    """Fills in :class:`~hybonet.training.Task` for probes.

    The epoch is chosen by the mean of the four measures of the layer that is best on validation data.
    """

    name = "probe"
    monitor, monitor_label, unit = "score", "mean of the measures on valid", "sentences/s"
    higher_is_better = True

    def __init__(self, settings: ProbeSettings, data: ProbeData) -> None:
        self.settings, self.data = settings, data
        self.splits = data.splits
        if settings.control == "shuffled-labels":
            self.splits = {name: split.shuffled(settings.seed, name) for name, split in data.splits.items()}

    def build_model(self) -> TreeProbes:
        states, length = self.splits["train"].states, self.settings.state_length
        probes = build_probes(self.settings, states, self.data.manifold)
        if length is not None:
            probes.stretch_to(length, states)
        return probes

    def build_optimizer(self, model: nn.Module) -> torch.optim.Adam:
        return torch.optim.Adam(model.parameters(), lr=self.settings.lr, weight_decay=self.settings.weight_decay)

    def batches_per_epoch(self) -> int:
        return -(-len(self.splits["train"].trees) // self.settings.batch_size)

    def batches(self, epoch: int, start: int, rank: int = 0, world: int = 1) -> Iterator[Batch]:
        split, size = self.splits["train"], self.settings.batch_size
        order = torch.randperm(len(split.trees), generator=generator_for(self.settings.seed, epoch)).tolist()
        for first in range(start * size, len(order), size):
            # A process whose share of a small last batch is empty takes the first sentence again.
            chosen = order[first : first + size][rank::world] or order[first : first + 1]
            yield make_batch(split, chosen, self.settings.device)

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        distances, depths = model(batch.states, batch.place)
        return probe_loss(distances, depths, batch)

    def validate(self, model: nn.Module) -> dict[str, float]:
        scores = measure(model, self.splits["valid"], self.settings.device)
        best = best_layer(scores)
        return {"score": scores[best].mean, "layer": float(self.data.layers[best]), **vars(scores[best])}

    def describe(self) -> dict[str, Any]:
        return {"task": self.name, "protocol": PROTOCOL, "dtype": "float32", **self.data.about}


def make_batch(split: ProbeSplit, chosen: Sequence[int], device: str = "cpu") -> Batch:
    """The chosen sentences, padded."""
    lengths = [len(split.trees[number]) for number in chosen]
    longest = max(lengths)
    place = torch.full((len(chosen), longest), -1)
    distances, depths = torch.zeros(len(chosen), longest, longest), torch.zeros(len(chosen), longest)
    words: list[Tensor] = []
    before = 0
    for row, (number, length) in enumerate(zip(chosen, lengths, strict=True)):
        place[row, :length] = torch.arange(before, before + length)
        distances[row, :length, :length], depths[row, :length] = split.gold[number]
        words.append(split.states[split.starts[number] : split.starts[number] + length])
        before += length
    states = torch.cat(words).transpose(0, 1).contiguous()
    return Batch(states.to(device), place.to(device), distances.to(device), depths.to(device))


def probe_loss(distances: Tensor, depths: Tensor, batch: Batch) -> Tensor:
    """The losses of distances ``(layers, sentences, n, n)`` and depths ``(layers, sentences, n)``, added up."""
    present = (batch.place >= 0).to(distances.dtype)
    lengths = present.sum(-1)
    pairs = present.unsqueeze(-1) * present.unsqueeze(-2)
    of_distances = ((distances - batch.distances).abs() * pairs).sum((-1, -2)) / lengths.square()
    of_depths = ((depths - batch.depths).abs() * present).sum(-1) / lengths
    return (of_distances + of_depths).mean(-1).sum()


@torch.no_grad()
def measure(model: nn.Module, split: ProbeSplit, device: str = "cpu") -> list[ProbeScores]:
    """The four measures of every layer on a split."""
    layers = split.states.shape[1]
    meter = ProbeMeter(layers)
    for length, numbers in _by_length(split.trees).items():
        together = max(1, _AT_ONCE // (layers * length * length))
        for start in range(0, len(numbers), together):
            chosen = numbers[start : start + together]
            batch = make_batch(split, chosen, device)
            distances, depths = model(batch.states, batch.place)
            punctuation = torch.stack([split.trees[number].is_punctuation for number in chosen])
            gold = batch.distances.cpu().long(), batch.depths.cpu().long()
            meter.add(distances.cpu(), depths.cpu(), *gold, punctuation)
    return meter.scores()


def chain_scores(trees: Sequence[DependencyTree]) -> ProbeScores:
    """What is had without any encoder: the measures of trees in which every word hangs on the one before it."""
    meter = ProbeMeter(layers=1)
    for length, numbers in _by_length(trees).items():
        depths = torch.arange(length).expand(len(numbers), length)
        distances = (depths[:, :, None] - depths[:, None, :]).abs()
        chosen = [trees[number] for number in numbers]
        gold_distances = torch.stack([tree.distances for tree in chosen])
        gold_depths = torch.stack([tree.depths for tree in chosen])
        punctuation = torch.stack([tree.is_punctuation for tree in chosen])
        meter.add(distances[None].float(), depths[None].float(), gold_distances, gold_depths, punctuation)
    return meter.scores()[0]


def _by_length(trees: Sequence[DependencyTree]) -> dict[int, list[int]]:
    """Numbers of the trees of every length, short ones first."""
    found: dict[int, list[int]] = {}
    for number, tree in enumerate(trees):
        found.setdefault(len(tree), []).append(number)
    return dict(sorted(found.items()))


def best_layer(scores: Sequence[ProbeScores]) -> int:
    """The place of the layer with the best mean of the four measures."""
    return max(range(len(scores)), key=lambda place: scores[place].mean)


def _shuffled(tree: DependencyTree, generator: torch.Generator) -> DependencyTree:
    role = torch.randperm(len(tree), generator=generator).tolist()
    word_with = {place: word for word, place in enumerate(role)}
    heads = tuple(0 if tree.heads[place] == 0 else word_with[tree.heads[place] - 1] + 1 for place in role)
    return replace(tree, heads=heads, relations=())
