"""Write the treebank inside the package: sentences of a toy grammar of our own, each with its tree.

    python scripts/build_toy_treebank.py

The grammar has what makes trees interesting for a probe: phrases that attach to the verb or to the noun depending on
the words alone ("sees the girl with the lamp" and "with the scarf"), relative clauses between a subject and its verb,
clauses inside clauses, coordination and punctuation. Relations and tags are those of Universal Dependencies.
"""

from __future__ import annotations

import lzma
import random
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from hybonet.data.conllu import write_conllu
from hybonet.data.trees import DependencyTree

SHIPPED = Path(__file__).resolve().parents[1] / "src/hybonet/data/shipped"
SIZES = {"train": 800, "valid": 100, "test": 100}
PEOPLE = ("girl", "boy", "teacher", "farmer", "baker", "sailor", "painter", "doctor", "child", "neighbour")
ANIMALS = ("dog", "cat", "horse", "bird", "fox", "goat")
THINGS = ("apple", "bread", "letter", "boat", "house", "garden", "fence", "song", "picture", "basket")
TOOLS = ("lamp", "brush", "spoon", "rope", "hammer")  # one does something with these
FEATURES = ("scarf", "hat", "beard", "smile", "coat")  # one has these
ADJECTIVES = ("old", "young", "small", "tall", "red", "quiet", "clever", "tired")
ADVERBS = ("slowly", "often", "today", "gladly", "again")
TRANSITIVE = ("sees", "finds", "paints", "carries", "likes", "mends", "hears")
INTRANSITIVE = ("sleeps", "sings", "laughs", "waits", "runs")
SPEECH = ("says", "thinks", "knows", "hopes")


@dataclass
class Node:
    """A word with what depends on it, before and after."""

    word: str
    tag: str
    relation: str = "root"
    before: list[Node] = field(default_factory=list)
    after: list[Node] = field(default_factory=list)

    def in_order(self) -> Iterator[Node]:
        """The words of the phrase from left to right."""
        for part in self.before:
            yield from part.in_order()
        yield self
        for part in self.after:
            yield from part.in_order()


def noun_phrase(chance: random.Random, relation: str, depth: int, nouns: tuple[str, ...]) -> Node:
    """A noun with article and adjectives; while depth lasts also with a feature, a relative clause or another noun."""
    noun = Node(chance.choice(nouns), "NOUN", relation)
    noun.before.append(Node(chance.choice(("the", "the", "a", "every")), "DET", "det"))
    while chance.random() < 0.3:
        noun.before.append(Node(chance.choice(ADJECTIVES), "ADJ", "amod"))
    if depth and nouns == PEOPLE and chance.random() < 0.25:
        noun.after.append(with_phrase(chance, "nmod", FEATURES))
    if depth and chance.random() < 0.2:
        clause = verb_phrase(chance, "acl:relcl", depth - 1)
        clause.before.insert(0, Node("that", "PRON", "nsubj"))
        noun.after.append(clause)
    elif depth and chance.random() < 0.15:
        other = noun_phrase(chance, "conj", 0, nouns)
        other.before.insert(0, Node("and", "CCONJ", "cc"))
        noun.after.append(other)
    return noun


def with_phrase(chance: random.Random, relation: str, nouns: tuple[str, ...]) -> Node:
    """A phrase such as "with the lamp"."""
    noun = noun_phrase(chance, relation, 0, nouns)
    noun.before.insert(0, Node("with", "ADP", "case"))
    return noun


def verb_phrase(chance: random.Random, relation: str, depth: int) -> Node:
    """A verb with its objects, tools and adverbs."""
    if chance.random() < 0.3:
        verb = Node(chance.choice(INTRANSITIVE), "VERB", relation)
    else:
        verb = Node(chance.choice(TRANSITIVE), "VERB", relation)
        verb.after.append(noun_phrase(chance, "obj", depth, chance.choice((PEOPLE, ANIMALS, THINGS))))
        if chance.random() < 0.35:
            verb.after.append(with_phrase(chance, "obl", TOOLS))
    if chance.random() < 0.3:
        adverb = Node(chance.choice(ADVERBS), "ADV", "advmod")
        verb.after.append(adverb)
    return verb


def clause(chance: random.Random, relation: str, depth: int) -> Node:
    """A subject with its verb; while depth lasts it may speak of another clause."""
    if depth and chance.random() < 0.25:
        verb = Node(chance.choice(SPEECH), "VERB", relation)
        inner = clause(chance, "ccomp", depth - 1)
        inner.before.insert(0, Node("that", "SCONJ", "mark"))
        verb.after.append(inner)
        subject = noun_phrase(chance, "nsubj", 1, PEOPLE)
    else:
        verb = verb_phrase(chance, relation, depth)
        subject = noun_phrase(chance, "nsubj", depth, chance.choice((PEOPLE, PEOPLE, ANIMALS)))
    verb.before.insert(0, subject)
    return verb


def sentence(chance: random.Random) -> DependencyTree:
    """A clause with a full stop, now and then after an adverb and a comma."""
    root = clause(chance, "root", 2)
    if chance.random() < 0.15:
        root.before[:0] = [Node(chance.choice(("today", "again")), "ADV", "advmod"), Node(",", "PUNCT", "punct")]
    root.after.append(Node(".", "PUNCT", "punct"))
    nodes = list(root.in_order())
    number = {id(node): place for place, node in enumerate(nodes, 1)}
    head = {id(part): number[id(node)] for node in nodes for part in (*node.before, *node.after)}
    return DependencyTree(
        tuple(node.word for node in nodes),
        tuple(node.tag for node in nodes),
        tuple(head.get(id(node), 0) for node in nodes),
        tuple(node.relation for node in nodes),
        tuple(following.tag != "PUNCT" for following in (*nodes[1:], nodes[0])),
    )


def main() -> None:
    """Entry point of the script."""
    chance, seen = random.Random(2022), set[str]()
    for split, size in SIZES.items():
        trees: list[DependencyTree] = []
        while len(trees) < size:
            tree = sentence(chance)
            if 5 <= len(tree) <= 30 and tree.text not in seen:
                seen.add(tree.text)
                trees.append(tree)
        with tempfile.TemporaryDirectory() as folder:
            plain = Path(folder) / "plain.conllu"
            write_conllu(plain, trees)
            target = SHIPPED / f"toy_trees_{split}.conllu.xz"
            target.write_bytes(lzma.compress(plain.read_bytes(), preset=9))
        words = sum(map(len, trees))
        print(f"{target.name}: {size} sentences, {words} words, {target.stat().st_size} bytes")
    for tree in trees[:8]:
        print(tree.text)


if __name__ == "__main__":
    main()
