"""CoNLL-U: what is read, what is passed over, and what is said to a mistake."""

import gzip
from pathlib import Path

import networkx as nx
import pytest
import torch

from hybonet.data import DependencyTree, load_treebank, named, read_conllu, write_conllu
from hybonet.data.io.source_file import SourceFile
from hybonet.data.trees.conllu import parse_conllu
from hybonet.data.trees.dependency_tree import heads_of

# Multiword tokens (with their own space), an empty node, a comment, a blank between sentences, Windows line ends.
PECULIAR = """# text = Je vais au marché, vite!
1\tJe\tje\tPRON\t_\t_\t2\tnsubj\t_\t_
2\tvais\taller\tVERB\t_\t_\t0\troot\t_\t_
3-4\tau\t_\t_\t_\t_\t_\t_\t_\t_
3\tà\tà\tADP\t_\t_\t5\tcase\t_\t_
4\tle\tle\tDET\t_\t_\t5\tdet\t_\t_
5\tmarché\tmarché\tNOUN\t_\t_\t2\tobl\t_\tSpaceAfter=No
5.1\tvais\taller\tVERB\t_\t_\t_\t_\t2:conj\t_
6\t,\t,\tPUNCT\t_\t_\t7\tpunct\t_\t_
7\tvite\tvite\tADV\t_\t_\t2\tadvmod\t_\tSpaceAfter=No
8\t!\t!\tPUNCT\t_\t_\t2\tpunct\t_\t_

1\tVa\taller\tVERB\t_\t_\t0\troot\t_\t_
"""


def row(number: object, head: object, word: str = "w") -> str:
    return f"{number}\t{word}\t_\tX\t_\t_\t{head}\t_\t_\t_\n"


def parse(text: str) -> list[DependencyTree]:
    return parse_conllu(SourceFile("mine.conllu", "mine.conllu", text.encode()))


@pytest.mark.parametrize("text", [PECULIAR, PECULIAR.replace("\n", "\r\n"), "\ufeff" + PECULIAR])
def test_words_alone_are_read(text: str) -> None:
    first, second = parse(text)
    assert first.words == ("Je", "vais", "à", "le", "marché", ",", "vite", "!")
    assert first.heads == (2, 0, 5, 5, 2, 7, 2, 2)
    assert first.text == "Je vais àle marché, vite!"  # the words of one token are written together
    assert first.is_punctuation.tolist() == [False] * 5 + [True, False, True]
    assert second.words == ("Va",)


def test_after_a_multiword_token_its_own_space_counts() -> None:
    (tree,) = parse(row("1-2", "_").replace("_\n", "SpaceAfter=No\n") + row(1, 0) + row(2, 1) + row(3, 1))
    assert tree.text == "www"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected at least one sentence, got none"),
        ("1\tdog\tdog\n", "line 1: expected 10 columns separated by tabs, got 3"),
        (row(1, 0) + row(3, 1), "line 2: expected word 2 of the sentence in column ID, got '3'"),
        (row(1, 0) + row("x", 1), "line 2: expected word 2 of the sentence in column ID, got 'x'"),
        (row(1, 0) + row(2, "_"), "line 2: expected the number of a word or 0 in column HEAD, got '_'"),
        (row(1, 0) + row(2, 5), "lines 1 to 2: expected heads from 0 to 2, got head 5 of word 2"),
        (row(1, 0) + row(2, 0), r"lines 1 to 2: expected one word with head 0 \(the root\), got words 1, 2"),
        ("\n" + row(1, 2) + row(2, 1), r"lines 2 to 3: expected one word with head 0 \(the root\), got none"),
        (row(1, 0) + row(2, 3) + row(3, 2), "expected a tree, got the cycle 2 -> 3 -> 2"),
        (row(1, 0, " "), "line 1: expected a word in column FORM, got an empty field"),
        (row("3-4", "_") + row(1, 0), "line 1: expected a multiword token that starts with word 1, got '3-4'"),
        (row("1-2", "_") + row(1, 0), "line 2: expected word 2 of a multiword token, found its end"),
        (row("0.1", "_"), "line 1: expected words, got empty nodes"),
    ],
)
def test_mistakes_are_named_with_their_line(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"mine.conllu.*{message}"):
        parse(text)


def test_text_that_is_not_utf8() -> None:
    with pytest.raises(ValueError, match="line 2: expected UTF-8 text, got the byte 0xe9"):
        parse_conllu(SourceFile("mine.conllu", "mine.conllu", row(1, 0).encode() + b"\xe9"))


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    trees = load_treebank("toy").test
    write_conllu(tmp_path / "toy.conllu", trees)
    again = read_conllu(tmp_path / "toy.conllu")
    for tree, other in zip(trees, again, strict=True):
        assert (tree.words, tree.tags, tree.heads, tree.relations, tree.text) == (
            other.words, other.tags, other.heads, other.relations, other.text
        )  # fmt: skip
    (tmp_path / "toy.conllu.gz").write_bytes(gzip.compress((tmp_path / "toy.conllu").read_bytes()))
    assert len(read_conllu(tmp_path / "toy.conllu.gz")) == len(trees)


def test_distances_and_depths_against_networkx() -> None:
    for tree in load_treebank("toy").test[:40]:
        graph = nx.Graph((word, head - 1) for word, head in enumerate(tree.heads) if head)
        paths = dict(nx.all_pairs_shortest_path_length(graph))
        expected = torch.tensor([[paths[a][b] for b in range(len(tree))] for a in range(len(tree))])
        assert torch.equal(tree.distances, expected)
        assert torch.equal(tree.depths, expected[tree.root])
        edges = [(word, head - 1) for word, head in enumerate(tree.heads) if head]
        assert heads_of(edges, tree.root, len(tree)) == tree.heads


def test_a_folder_and_one_file(tmp_path: Path) -> None:
    toy = load_treebank("toy")
    for name, split in (("a-train", "train"), ("a-dev", "valid"), ("a-test", "test")):
        write_conllu(tmp_path / f"{name}.conllu", toy.trees(split)[:30])
    assert load_treebank(tmp_path).valid[3].words == toy.valid[3].words
    whole = load_treebank(tmp_path / "a-train.conllu")
    assert whole.statistics()["train"] == 24
    assert whole.test[0].words == toy.train[9].words
    write_conllu(tmp_path / "b-dev.conllu", toy.valid)
    with pytest.raises(ValueError, match=r"valid or dev or val in its name, got a-dev.conllu, b-dev.conllu"):
        load_treebank(tmp_path)
    write_conllu(tmp_path / "few.conllu", toy.test[:9])
    with pytest.raises(ValueError, match="expected at least 10 sentences"):
        load_treebank(tmp_path / "few.conllu")


@pytest.mark.skipif(named("UD_English-EWT").folder() is None, reason="UD_English-EWT is not on the search path")
def test_published_treebank() -> None:
    treebank = load_treebank("ud_english-ewt")
    counts = treebank.statistics()
    assert {split: counts[split] for split in ("train", "valid", "test")} == named("UD_English-EWT").statistics
    assert (counts["train_words"], counts["valid_words"], counts["test_words"]) == (204_577, 25_147, 25_094)
    assert treebank.valid[1].text.endswith("on federal courts in the Washington area.")


def test_a_treebank_that_is_not_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HYBONET_DATA", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(ValueError, match="found them nowhere; download them with hybonet data fetch UD_English-EWT"):
        load_treebank("UD_English-EWT")
    folder = tmp_path / "hybonet/UD_English-EWT"
    folder.mkdir(parents=True)
    for file in named("UD_English-EWT").files.values():
        (folder / file.name).write_text("changed")
    with pytest.raises(ValueError, match="with sha256 3fb78e"):
        load_treebank("UD_English-EWT")


@pytest.mark.parametrize(("tags", "heads"), [((), (0,)), (("X",), ()), (("X", "X"), (0,)), (("X",), (0, 1))])
def test_a_tree_has_a_tag_and_a_head_for_each_word(tags, heads) -> None:
    with pytest.raises(ValueError, match="expected as many tags and heads as words, at least one, got 1 words"):
        DependencyTree(("dog",), tags, heads)
    with pytest.raises(ValueError, match="got 0 words"):
        DependencyTree((), (), ())
