"""The four measures of tree probing against networkx, scipy and trees made by hand."""

import networkx as nx
import pytest
import torch
from scipy.stats import rankdata, spearmanr

from hybonet.data import load_treebank
from hybonet.data.trees.dependency_tree import DependencyTree
from hybonet.metrics.probing import ProbeMeter, ProbeScores, mean_ranks, spanning_tree, spearman


def oracle(trees: list[DependencyTree], distances: list[torch.Tensor], depths: list[torch.Tensor]) -> dict[str, float]:
    """The definitions one by one, with Kruskal's algorithm of networkx and scipy's Spearman."""
    found = total = roots = sentences = 0
    by_word: dict[int, list[float]] = {}
    by_sentence: dict[int, list[float]] = {}
    for tree, distance, depth in zip(trees, distances, depths, strict=True):
        words = [place for place, tag in enumerate(tree.tags) if tag != "PUNCT"]
        gold, predicted = (kruskal(matrix, words) for matrix in (tree.distances.double(), distance))
        found, total = found + len(gold & predicted), total + len(gold)
        if words:
            roots += min(words, key=lambda place: depth[place]) == tree.root
            sentences += 1
        n = len(tree)
        if 5 <= n <= 50:
            rows = [spearmanr(distance[i], tree.distances[i]).statistic for i in range(n)]
            by_word.setdefault(n, []).extend(rows)
            by_sentence.setdefault(n, []).append(spearmanr(depth, tree.depths).statistic)
    dspr, nspr = (
        sum(sum(values) / len(values) for values in groups.values()) / len(groups) for groups in (by_word, by_sentence)
    )
    return {"uuas": found / total, "dspr": dspr, "root": roots / sentences, "nspr": nspr}


def kruskal(matrix: torch.Tensor, words: list[int]) -> set[frozenset[int]]:
    graph = nx.Graph()
    graph.add_nodes_from(words)
    graph.add_weighted_edges_from((i, j, float(matrix[i, j])) for i in words for j in words if i < j)
    return {frozenset(edge) for edge in nx.minimum_spanning_tree(graph, algorithm="kruskal").edges}


def measured(trees: list[DependencyTree], distances: list[torch.Tensor], depths: list[torch.Tensor]) -> ProbeScores:
    meter = ProbeMeter(layers=1)
    for tree, distance, depth in zip(trees, distances, depths, strict=True):
        meter.add(distance[None, None], depth[None, None], tree.distances[None], tree.depths[None],
                  tree.is_punctuation[None])  # fmt: skip
    return meter.scores()[0]


def noisy(trees: list[DependencyTree], noise: float, seed: int = 0) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    generator = torch.Generator().manual_seed(seed)
    distances, depths = [], []
    for tree in trees:
        change = torch.randn(len(tree), len(tree), generator=generator).abs() * noise
        distances.append(tree.distances + (change + change.T) * (1 - torch.eye(len(tree))))
        depths.append(tree.depths + noise * torch.randn(len(tree), generator=generator))
    return distances, depths


def test_against_networkx_and_scipy() -> None:
    trees = list(load_treebank("toy").test[:60])
    distances, depths = noisy(trees, 1.5)
    expected = oracle(trees, distances, depths)
    scores = measured(trees, distances, depths)
    assert 0.1 < scores.uuas < 0.9  # neither trivial nor perfect
    for name, value in expected.items():
        assert getattr(scores, name) == pytest.approx(value, abs=1e-9), name


def test_gold_distances_are_perfect() -> None:
    trees = list(load_treebank("toy").test[:20])
    assert measured(trees, *noisy(trees, 0.0)) == ProbeScores(1.0, 1.0, 1.0, 1.0)


def test_ties_and_punctuation_inside_the_tree() -> None:
    # Two words hang from punctuation: without it their distances are equal (2), and the first pair wins.
    tree = DependencyTree(("a", "-", "b", "c", "d"), ("X", "PUNCT", "X", "X", "X"), (2, 3, 0, 2, 3))
    gold = spanning_tree(tree.distances, tree.is_punctuation)
    assert gold.triu().nonzero().tolist() == [[0, 2], [0, 3], [2, 4]]
    assert {frozenset(edge) for edge in gold.triu().nonzero().tolist()} == kruskal(tree.distances, [0, 2, 3, 4])


def test_by_hand() -> None:
    # dogs bark loudly ! : the prediction hangs "loudly" from "dogs" and takes "dogs" for the root.
    tree = DependencyTree(("dogs", "bark", "loudly", "!"), ("NOUN", "VERB", "ADV", "PUNCT"), (2, 0, 2, 2))
    predicted = torch.tensor([[0.0, 1, 1.5, 9], [1, 0, 2.0, 0.1], [1.5, 2, 0, 9], [9, 0.1, 9, 0]])
    depths = torch.tensor([0.2, 0.5, 1.0, 0.0])  # punctuation is no candidate for the root
    scores = measured([tree], [predicted], [depths])
    assert (scores.uuas, scores.root) == (0.5, 0.0)
    assert (scores.dspr, scores.nspr) == (0.0, 0.0)  # four words: too short to count


def test_correlations_are_averaged_by_length_first() -> None:
    five = DependencyTree(tuple("abcde"), ("X",) * 5, (0, 1, 2, 3, 4))
    six = DependencyTree(tuple("abcdef"), ("X",) * 6, (0, 1, 2, 3, 4, 5))
    trees = [five, five, five, six]
    right, wrong = five.depths.float(), -six.depths.float()
    scores = measured(trees, [tree.distances.float() for tree in trees], [right, right, right, wrong])
    assert scores.nspr == 0.0  # (1 + -1) / 2, where an average over sentences would give 1/2
    assert scores.dspr == 1.0


@pytest.mark.parametrize("heads", [(0,), (2, 0)])
def test_short_sentences_and_nothing_but_punctuation(heads: tuple[int, ...]) -> None:
    tree = DependencyTree(("!",) * len(heads), ("PUNCT",) * len(heads), heads)
    said = DependencyTree(("Go",), ("VERB",), (0,))
    scores = measured([tree, said], *noisy([tree, said], 0.0))
    assert scores == ProbeScores(uuas=0.0, dspr=0.0, root=1.0, nspr=0.0)


def test_two_words_are_an_edge_and_a_root() -> None:
    tree = DependencyTree(("Go", "on"), ("VERB", "ADV"), (0, 1))
    assert measured([tree], *noisy([tree], 0.0)) == ProbeScores(uuas=1.0, dspr=0.0, root=1.0, nspr=0.0)


def test_of_equal_distances_the_first_pair_wins_in_long_sentences_too() -> None:
    generator = torch.Generator().manual_seed(0)
    for n in (5, 20, 50, 120):
        distances = torch.randint(1, 4, (n, n), generator=generator).triu(1)
        tree = spanning_tree(distances.double()).triu().nonzero().tolist()
        assert {frozenset(edge) for edge in tree} == kruskal(distances, list(range(n)))


def test_ranks_and_constant_rows() -> None:
    values = torch.randint(0, 4, (6, 9), generator=torch.Generator().manual_seed(1))
    assert mean_ranks(values).tolist() == [rankdata(row).tolist() for row in values]
    assert spearman(torch.zeros(3), torch.arange(3.0)) == 0


def test_layers_are_measured_side_by_side() -> None:
    trees = [tree for tree in load_treebank("toy").test if len(tree) == 12]
    gold = torch.stack([tree.distances for tree in trees]), torch.stack([tree.depths for tree in trees])
    layers = [[torch.stack(part) for part in noisy(trees, 1.0, seed)] for seed in range(3)]
    meter = ProbeMeter(layers=3)
    distances, depths = (torch.stack(part) for part in zip(*layers, strict=True))
    meter.add(distances, depths, *gold, torch.stack([tree.is_punctuation for tree in trees]))
    alone = [measured(trees, list(distance), list(depth)) for distance, depth in layers]
    for together, single in zip(meter.scores(), alone, strict=True):
        assert vars(together) == pytest.approx(vars(single), abs=1e-9)
