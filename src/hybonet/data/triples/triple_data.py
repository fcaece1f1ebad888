"""Triples (head, relation, tail) of a knowledge graph as numbers, with the labels they stand for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

import torch
from torch import Tensor

from hybonet.data.vocabulary import Vocabulary

SplitName = Literal["train", "valid", "test"]
SPLITS: tuple[SplitName, ...] = get_args(SplitName)


@dataclass(frozen=True, eq=False, repr=False)
class TripleData:
    """A knowledge graph in three parts; :func:`hybonet.data.load_knowledge_graph` reads one from files.

    Example:
        >>> facts = [("dog", "is a", "canine"), ("wolf", "is a", "canine"), ("dog", "eats", "meat")]
        >>> graph = TripleData.from_labels(facts)
        >>> graph
        TripleData('triples': 4 entities, 2 relations, 3 / 0 / 0 triples)
        >>> graph.train.tolist()
        [[1, 1, 0], [3, 1, 0], [1, 0, 2]]
        >>> graph.describe(graph.train[2])
        'dog — eats → meat'
        >>> graph.entities.find("wolff")
        Traceback (most recent call last):
        ValueError: expected one of 4 entities, got 'wolff'; did you mean 'wolf'?
    """

    entities: Vocabulary
    relations: Vocabulary
    #: Head, relation and tail ids; shape (n, 3). Valid and test may be empty.
    train: Tensor
    valid: Tensor
    test: Tensor
    #: Where the triples came from: a shipped name, or a path.
    source: str = "triples"
    #: Checksums of the unpacked source files, by file name.
    sha256: Mapping[str, str] = field(default_factory=dict)
    #: What was done to the data: duplicates dropped, a split made.
    notes: tuple[str, ...] = ()
    #: What may make results misleading: leaks, labels unknown in train.
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for split in SPLITS:
            triples = self.triples(split)
            if triples.dtype != torch.long or triples.dim() != 2 or triples.shape[1] != 3:
                raise ValueError(
                    f"expected {split} as a LongTensor (n, 3), got shape {tuple(triples.shape)} of {triples.dtype}; "
                    "give one row of head, relation and tail ids a triple"
                )
            for column, vocabulary in enumerate((self.entities, self.relations, self.entities)):
                ids = triples[:, column]
                if len(ids) and (int(ids.min()) < 0 or int(ids.max()) >= len(vocabulary)):
                    raise ValueError(
                        f"expected ids of {len(vocabulary)} {vocabulary.plural} in column {column} of {split}, got "
                        f"{int(ids.min())} to {int(ids.max())}; number them by their place in the list"
                    )

    def __repr__(self) -> str:
        sizes = " / ".join(f"{len(self.triples(split)):,}" for split in SPLITS)
        return (
            f"TripleData({self.source!r}: {self.num_entities:,} entities, {self.num_relations:,} relations, "
            f"{sizes} triples)"
        )

    @classmethod
    def from_labels(
        cls,
        train: Iterable[tuple[str, str, str]],
        valid: Iterable[tuple[str, str, str]] = (),
        test: Iterable[tuple[str, str, str]] = (),
        *,
        source: str = "triples",
    ) -> TripleData:
        """Number labelled triples; labels are numbered in alphabetical order."""
        parts = [list(train), list(valid), list(test)]
        if not parts[0]:
            raise ValueError(f"{source}: expected at least one triple in train, got none; give (head, relation, tail)")
        everything = [triple for part in parts for triple in part]
        entities = Vocabulary(tuple(sorted({label for head, _, tail in everything for label in (head, tail)})))
        relations = Vocabulary(tuple(sorted({relation for _, relation, _ in everything})), kind="relation")
        tensors = [
            torch.tensor(
                [(entities.find(head), relations.find(name), entities.find(tail)) for head, name, tail in part],
                dtype=torch.long,
            ).reshape(-1, 3)
            for part in parts
        ]
        return cls(entities, relations, tensors[0], tensors[1], tensors[2], source=source)

    @property
    def num_entities(self) -> int:
        """Entities of all three parts."""
        return len(self.entities)

    @property
    def num_relations(self) -> int:
        """Relations of all three parts, without reciprocals."""
        return len(self.relations)

    def triples(self, split: SplitName | Literal["all"]) -> Tensor:
        """The triples of one part, or of all three in order; shape (n, 3)."""
        parts = {"train": self.train, "valid": self.valid, "test": self.test}
        if split == "all":
            return torch.cat(tuple(parts.values()))
        if split not in parts:
            raise ValueError(f"expected a split of {', '.join(SPLITS)} or all, got {split!r}; choose one of these")
        return parts[split]

    def without_test(self) -> TripleData:
        """The same graph without its test triples, for whatever must not know them; entities keep their numbers.

        Example:
            >>> TripleData.from_labels([("dog", "is a", "canine")], test=[("wolf", "is a", "canine")]).without_test()
            TripleData('triples': 3 entities, 1 relations, 1 / 0 / 0 triples)
        """
        return replace(self, test=self.test[:0])

    def with_reciprocals(self, split: SplitName | Literal["all"] = "train") -> Tensor:
        """The triples of a part followed by (t, r + num_relations, h) for each (h, r, t); shape (2n, 3).

        Example:
            >>> TripleData.from_labels([("dog", "is a", "canine")]).with_reciprocals("train").tolist()
            [[1, 0, 0], [0, 1, 1]]
        """
        triples = self.triples(split)
        head, relation, tail = triples.unbind(1)
        return torch.cat((triples, torch.stack((tail, relation + self.num_relations, head), dim=1)))

    def relation_name(self, number: int) -> str:
        """Name of a relation, reciprocal ones included.

        Example:
            >>> TripleData.from_labels([("dog", "is a", "canine")]).relation_name(1)
            'is a (reversed)'
        """
        if number < self.num_relations:
            return self.relations.name(number)
        return f"{self.relations.name(number - self.num_relations)} (reversed)"

    def describe(self, triple: Tensor | Iterable[int]) -> str:
        """A triple of ids as people read it."""
        head, relation, tail = (int(number) for number in triple)
        return f"{self.entities.name(head)} — {self.relation_name(relation)} → {self.entities.name(tail)}"

    def statistics(self) -> dict[str, int]:
        """Counts for reports and checks.

        Example:
            >>> TripleData.from_labels([("dog", "is a", "canine")]).statistics()
            {'entities': 2, 'relations': 1, 'train': 1, 'valid': 0, 'test': 0}
        """
        sizes: dict[str, int] = {split: len(self.triples(split)) for split in SPLITS}
        return {"entities": self.num_entities, "relations": self.num_relations, **sizes}

    def relation_counts(self, split: SplitName | Literal["all"] = "all") -> dict[str, int]:
        """Triples of each relation by its label, most frequent first.

        Example:
            >>> TripleData.from_labels([("dog", "is a", "canine"), ("dog", "eats", "meat")]).relation_counts()
            {'eats': 1, 'is a': 1}
        """
        counts = torch.bincount(self.triples(split)[:, 1], minlength=self.num_relations).tolist()
        order = sorted(range(self.num_relations), key=lambda number: -counts[number])
        return {self.relations[number]: counts[number] for number in order}
