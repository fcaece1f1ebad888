"""A hierarchy as a directed acyclic graph of names: its edges, transitive closure and depths."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

_SENSE_SUFFIX = re.compile(r"\.[nvars]\.\d\d$")


@dataclass(frozen=True, eq=False, repr=False)
class Hierarchy:
    """Names joined by child-to-parent edges without cycles; a child may have several parents.

    Example:
        >>> family = Hierarchy.from_edges([("dog", "canine"), ("wolf", "canine"), ("canine", "mammal")])
        >>> family.names
        ('canine', 'dog', 'mammal', 'wolf')
        >>> [(family.names[a], family.names[b]) for a, b in family.closure.tolist()]
        [('canine', 'mammal'), ('dog', 'canine'), ('dog', 'mammal'), ('wolf', 'canine'), ('wolf', 'mammal')]
        >>> family.depths.tolist()
        [1, 2, 0, 2]
    """

    #: Node names in alphabetical order; a node's number is its place here.
    names: tuple[str, ...]
    #: Direct edges (child, parent) as node numbers, sorted; shape (edges, 2).
    edges: Tensor
    #: Where the edges came from: a shipped name, or a path.
    source: str = "edges"
    #: Checksum of the file, or of the sorted edges when there was none.
    sha256: str = ""
    #: What was left out.
    notes: tuple[str, ...] = ()

    @classmethod
    def from_edges(cls, edges: Iterable[tuple[str, str]], *, source: str = "edges", sha256: str = "") -> Hierarchy:
        """Number the names and check that no name is its own ancestor.

        Repeated edges count once, and those of a name with itself are left out; ``notes`` tell how many.
        """
        given = list(edges)
        unique = sorted({edge for edge in given if edge[0] != edge[1]})
        loops = sum(child == parent for child, parent in given)
        counts = (
            (len(given) - loops - len(unique), "edges were given again, and are kept once"),
            (loops, "names had an edge to themselves, which is left out"),
        )
        if not unique:
            raise ValueError(f"{source}: expected at least one edge, got none; give pairs (child, parent)")
        names = tuple(sorted({name for edge in unique for name in edge}))
        number = {name: i for i, name in enumerate(names)}
        numbered = sorted((number[child], number[parent]) for child, parent in unique)
        checksum = sha256 or hashlib.sha256("\n".join("\t".join(edge) for edge in unique).encode()).hexdigest()
        notes = tuple(f"{count:,} {text}" for count, text in counts if count)
        hierarchy = cls(names, torch.tensor(numbered), source, checksum, notes)
        hierarchy.topological_order  # noqa: B018 - computing the order is what finds a cycle
        return hierarchy

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"Hierarchy({self.source!r}: {len(self):,} names, {len(self.edges):,} edges)"

    def statistics(self) -> dict[str, int]:
        """Counts for reports and checks."""
        return {"names": len(self), "edges": len(self.edges)}

    @cached_property
    def parents(self) -> list[list[int]]:
        """Direct parents of every node, in ascending order."""
        parents: list[list[int]] = [[] for _ in self.names]
        for child, parent in self.edges.tolist():
            parents[child].append(parent)
        return parents

    @cached_property
    def topological_order(self) -> list[int]:
        """Node numbers, every parent before its children."""
        children: list[list[int]] = [[] for _ in self.names]
        for child, parent in self.edges.tolist():
            children[parent].append(child)
        waiting_for = [len(parents) for parents in self.parents]
        order = [node for node, count in enumerate(waiting_for) if count == 0]
        for node in order:  # grows while it is read
            for child in children[node]:
                waiting_for[child] -= 1
                if waiting_for[child] == 0:
                    order.append(child)
        if len(order) < len(self.names):
            raise ValueError(
                f"{self.source}: expected a hierarchy without cycles, got {self._describe_cycle(waiting_for)}; "
                "remove one of these edges"
            )
        return order

    def _describe_cycle(self, waiting_for: list[int]) -> str:
        """One cycle, found by climbing from an unsorted node: each of those has an unsorted parent."""
        path = [next(node for node, count in enumerate(waiting_for) if count)]
        while path[-1] not in path[:-1]:
            path.append(next(parent for parent in self.parents[path[-1]] if waiting_for[parent]))
        return " -> ".join(repr(self.names[node]) for node in path[path.index(path[-1]) :])

    @cached_property
    def closure(self) -> Tensor:
        """All pairs (descendant, ancestor), without self pairs, sorted; shape (pairs, 2)."""
        ancestors: list[set[int]] = [set() for _ in self.names]
        for node in self.topological_order:
            for parent in self.parents[node]:
                ancestors[node] |= {parent} | ancestors[parent]
        return torch.tensor([(node, above) for node, found in enumerate(ancestors) for above in sorted(found)])

    @cached_property
    def descendants(self) -> Tensor:
        """How many nodes are below each; shape (nodes,)."""
        return torch.bincount(self.closure[:, 1], minlength=len(self))

    @cached_property
    def _starts(self) -> Tensor:
        """Where the pairs of each node begin in the closure, and where they all end; shape (nodes + 1,)."""
        counts = torch.bincount(self.closure[:, 0], minlength=len(self))
        return torch.cat((counts.new_zeros(1), counts.cumsum(0)))

    def are_ancestors(self, nodes: Tensor, others: Tensor) -> Tensor:
        """Which of some nodes are above which: entry (i, j) is True if ``others[j]`` is above ``nodes[i]``.

        Shapes: ``nodes (n,)``, ``others (m,)``, all different, ``-> (n, m)``.

        Example:
            >>> family = Hierarchy.from_edges([("dog", "canine"), ("canine", "mammal")])
            >>> family.are_ancestors(torch.tensor([0, 1]), torch.tensor([2, 0]))  # canine, dog; mammal, canine
            tensor([[ True, False],
                    [ True,  True]])
        """
        column = torch.full((len(self),), -1)
        column[others] = torch.arange(len(others))
        starts, counts = self._starts[nodes], self._starts[nodes + 1] - self._starts[nodes]
        row = torch.arange(len(nodes)).repeat_interleave(counts)
        pair = torch.arange(len(row)) + (starts - counts.cumsum(0) + counts)[row]
        above = column[self.closure[pair, 1]]
        mask = torch.zeros(len(nodes), len(others), dtype=torch.bool)
        mask[row[above >= 0], above[above >= 0]] = True
        return mask

    @property
    def is_ancestor(self) -> Tensor:
        """The whole closure as a mask: entry (u, v) is True if v is above u; shape (nodes, nodes)."""
        everything = torch.arange(len(self))
        return self.are_ancestors(everything, everything)

    def ancestors(self, node: int) -> Tensor:
        """All nodes above a node, in ascending order; shape (ancestors,)."""
        return self.closure[self._starts[node] : self._starts[node + 1], 1]

    def below(self, node: int) -> Tensor:
        """All nodes that a node is above of; shape (descendants,)."""
        return self.closure[self.closure[:, 1] == node, 0]

    @cached_property
    def depths(self) -> Tensor:
        """Edges on the shortest way up to a root; shape (nodes,)."""
        depths = [0] * len(self)
        for node in self.topological_order:
            if self.parents[node]:
                depths[node] = 1 + min(depths[parent] for parent in self.parents[node])
        return torch.tensor(depths)

    @cached_property
    def roots(self) -> Tensor:
        """Nodes without a parent; shape (roots,)."""
        return torch.tensor([node for node, parents in enumerate(self.parents) if not parents])

    def branches(self, count: int) -> tuple[Tensor, list[int]]:
        """The hierarchy cut into about ``count`` large branches: each node's branch, -1 for none, and their top nodes.

        The largest branch is split into those of its children until there are enough; what is above the cuts belongs
        to none, and neither do branches too small for the first ``count``.

        Example:
            >>> family = Hierarchy.from_edges([("dog", "beast"), ("cat", "beast"), ("pug", "dog"), ("elm", "tree")])
            >>> branch, tops = family.branches(2)
            >>> [family.names[node] for node in tops], branch.tolist()
            (['beast', 'tree'], [0, 0, 0, 1, 0, 1])
        """
        children: list[list[int]] = [[] for _ in self.names]
        for node, parents in enumerate(self.parents):
            if parents:
                children[parents[0]].append(node)
        size = (self.descendants + 1).tolist()
        tops = self.roots.tolist()
        while len(tops) < count and any(children[node] for node in tops):
            largest = max((node for node in tops if children[node]), key=lambda node: size[node])
            tops.remove(largest)
            tops.extend(children[largest])
        tops = sorted(tops, key=lambda node: -size[node])[:count]
        branch = torch.full((len(self),), -1)
        for number, node in reversed(list(enumerate(tops))):
            branch[self.below(node)] = number
            branch[node] = number
        return branch, tops

    def find(self, word: str) -> int | None:
        """Number of the node with this name, or else of the first whose :func:`display_name` it is.

        Example:
            >>> family = Hierarchy.from_edges([("dog.n.01", "canine.n.02")])
            >>> family.find("dog"), family.find("canine.n.02"), family.find("cat")
            (1, 0, None)
        """
        return self._numbers.get(word)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        by_word = {display_name(name): node for node, name in reversed(list(enumerate(self.names)))}
        return by_word | {name: node for node, name in enumerate(self.names)}


def display_name(name: str) -> str:
    """A WordNet synset's name as plain words; other names stay as they are.

    Example:
        >>> display_name("even-toed_ungulate.n.01"), display_name("src/__init__.py")
        ('even-toed ungulate', 'src/__init__.py')
    """
    word = _SENSE_SUFFIX.sub("", name)
    return name if word == name else word.replace("_", " ")
