"""States of words: the right pieces, the right mean, whatever the batch."""

import pytest
import torch

from hybonet import Lorentz
from hybonet.data.trees.dependency_tree import DependencyTree
from hybonet.tasks.probing.models.word_encoder import ModuleEncoder, by_text, pool_words, word_by_word


def sentence(*words: str) -> DependencyTree:
    return DependencyTree(words, ("X",) * len(words), tuple(range(len(words))))


def test_states_do_not_depend_on_the_batch() -> None:
    torch.manual_seed(0)
    table = torch.nn.Embedding(256, 6)
    tokenize = word_by_word(lambda word: [ord(letter) for letter in word], end=1)
    sentences = [sentence("abc", "d"), sentence("x"), sentence("hello", "to", "you", "all")]

    def layers(tokens: torch.Tensor) -> list[torch.Tensor]:
        return [table(tokens), 2 * table(tokens)]

    together = ModuleEncoder(layers, tokenize).states(sentences)
    alone = torch.cat([ModuleEncoder(layers, tokenize).states([each]) for each in sentences])
    torch.testing.assert_close(together, alone)
    assert together.shape == (7, 2, 6)
    torch.testing.assert_close(together[0, 0], table(torch.tensor([97, 98, 99])).mean(0))
    torch.testing.assert_close(together[0, 1], 2 * together[0, 0])


@pytest.mark.parametrize("K", [-1.0, -0.4])
def test_points_are_pooled_by_their_centroid(K: float) -> None:
    manifold = Lorentz(K)
    states = manifold.random_normal(5, 3, 4)
    pooled = pool_words(states, [[0, 1, 4], [], [2]], manifold)
    torch.testing.assert_close(pooled[0], manifold.centroid(states[[0, 1, 4]].transpose(0, 1)), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(pooled[1], manifold.origin(4).expand(3, 4))
    torch.testing.assert_close(pooled[2], states[2], atol=1e-5, rtol=1e-5)


def test_a_module_of_the_wrong_shape_is_told_so() -> None:
    encoder = ModuleEncoder(lambda tokens: [tokens.float()], word_by_word(lambda word: [1]), name="mine")
    with pytest.raises(ValueError, match=r"states of shape \(1, 2, d\) from layer 0 of mine, got \(1, 2\)"):
        encoder.states([sentence("a", "b")])


@pytest.mark.parametrize("manifold", [Lorentz(), None])
def test_layers_of_different_width_are_filled_up(manifold: Lorentz | None) -> None:
    narrow, wide = (torch.nn.Embedding.from_pretrained(Lorentz().random_normal(256, dim)) for dim in (3, 5))
    tokenize = word_by_word(lambda word: [ord(letter) for letter in word])
    encoder = ModuleEncoder(lambda tokens: [narrow(tokens), wide(tokens)], tokenize, manifold=manifold)
    states = encoder.states([sentence("ab", "c")])
    assert states.shape == (2, 2, 5)
    torch.testing.assert_close(states[1, 0], torch.nn.functional.pad(narrow.weight[ord("c")], (0, 2)))
    torch.testing.assert_close(states[1, 1], wide.weight[ord("c")])
    assert encoder.states([sentence("ab", "c")], [0]).shape == (2, 1, 3)  # alone it keeps its width
    if manifold is not None:
        manifold.require_point(states)


def test_pieces_of_text_as_it_was_written() -> None:
    cut = {"cannot.": ["can", "not."], "1": ["1"], "000": ["0", "00"], "km": ["▁", "km"]}
    tokenize = by_text(lambda text: (list(range(len(cut[text]))), cut[text]), end=9)
    tree = DependencyTree(("can", "not", ".", "1 000", "km"), ("X",) * 5, (0, 1, 2, 3, 4),
                          space_after=(False, False, True, True, True))  # fmt: skip
    pieces = tokenize(tree)
    assert pieces.tokens == [0, 1, 0, 0, 1, 0, 1, 9]
    assert pieces.of_words == [[0], [1], [1], [2, 3, 4], [5, 6]]  # the pieces of "km" do not spell it: all are its own
