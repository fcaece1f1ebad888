"""Write the treebank inside the package: sentences of a toy grammar of our own, each with its tree.

    python scripts/build_toy_treebank.py

The words are those of the toy parallel corpus (scripts/build_toy_corpus.py), so that a translator trained on it can be
probed; half of the sentences are as plain as the corpus has them. The others have what makes trees interesting:
phrases with "with" that hang from the verb or from the noun depending on the words alone (one paints with a friend, a
house has a tree), relative clauses between a subject and its verb, clauses inside clauses, coordination. Relations and
tags are those of Universal Dependencies.
"""

from __future__ import annotations

import lzma
import random
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from build_toy_corpus import ADJECTIVES, ADVERBS, DETERMINERS, NOUNS, VERBS  # type: ignore[import-not-found]
from hybonet.data.trees.conllu import write_conllu
from hybonet.data.trees.dependency_tree import DependencyTree

SHIPPED = Path(__file__).resolve().parents[1] / "src/hybonet/data/shipped"
SIZES = {"train": 800, "valid": 100, "test": 100}
ALIVE = [noun for noun in NOUNS if noun[0] in ("dog", "cat", "bird", "horse", "child", "woman", "man")]
THINGS = [noun for noun in NOUNS if noun not in ALIVE]
#: Verbs with a clause: present with one, with several, past.
SPEECH = [("says", "say", "said"), ("knows", "know", "knew"), ("thinks", "think", "thought")]
#: Tags and relations of determiners that are none.
_AS = {"two": ("NUM", "nummod"), "many": ("ADJ", "amod")}


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


def noun_phrase(
    chance: random.Random, relation: str, depth: int, nouns: list[tuple[str, str, str, str]] = NOUNS
) -> tuple[Node, bool]:
    """A noun with determiner and adjective, while depth lasts with more; and whether it is several."""
    singular, plural, *_ = chance.choice(nouns)
    determiner, wants_plural, _ = chance.choice(DETERMINERS)
    several = chance.random() < 0.4 if wants_plural is None else wants_plural
    noun = Node(plural if several else singular, "NOUN", relation)
    if chance.random() < 0.5:
        noun.before.append(Node(chance.choice(ADJECTIVES)[0], "ADJ", "amod"))
    follows = noun.before[0].word if noun.before else noun.word
    article = "an" if determiner == "a" and follows[0] in "aeiou" else determiner
    noun.before.insert(0, Node(article, *_AS.get(determiner, ("DET", "det"))))
    if depth and chance.random() < 0.25:
        noun.after.append(with_phrase(chance, "nmod", THINGS))
    if depth and chance.random() < 0.25:
        inner = verb_phrase(chance, "acl:relcl", depth - 1, several)
        inner.before.insert(0, Node("that", "PRON", "nsubj"))
        noun.after.append(inner)
    elif depth and chance.random() < 0.2:
        other, _ = noun_phrase(chance, "conj", 0, nouns)
        other.before.insert(0, Node("and", "CCONJ", "cc"))
        noun.after.append(other)
        several = True
    return noun, several


def with_phrase(chance: random.Random, relation: str, nouns: list[tuple[str, str, str, str]]) -> Node:
    """A phrase such as "with the child"."""
    noun, _ = noun_phrase(chance, relation, 0, nouns)
    noun.before.insert(0, Node("with", "ADP", "case"))
    return noun


def verb_phrase(chance: random.Random, relation: str, depth: int, several: bool) -> Node:
    """A verb with its object, company and adverb."""
    adverb, _, wants_past = chance.choice(ADVERBS)
    has_adverb = chance.random() < 0.4
    past = wants_past if has_adverb and wants_past is not None else chance.random() < 0.5
    one, many, before, _ = chance.choice(VERBS)
    verb = Node(before if past else many if several else one, "VERB", relation)
    verb.after.append(noun_phrase(chance, "obj", depth)[0])
    if depth and chance.random() < 0.3:
        verb.after.append(with_phrase(chance, "obl", ALIVE))
    if has_adverb:
        verb.after.append(Node(adverb, "ADV", "advmod"))
    return verb


def clause(chance: random.Random, relation: str, depth: int) -> Node:
    """A subject with its verb; while depth lasts it may speak of another clause."""
    if depth and chance.random() < 0.3:
        subject, several = noun_phrase(chance, "nsubj", depth - 1, ALIVE)
        one, many, before = chance.choice(SPEECH)
        verb = Node(before if chance.random() < 0.5 else many if several else one, "VERB", relation)
        inner = clause(chance, "ccomp", depth - 1)
        inner.before.insert(0, Node("that", "SCONJ", "mark"))
        verb.after.append(inner)
    else:
        subject, several = noun_phrase(chance, "nsubj", depth)
        verb = verb_phrase(chance, relation, depth, several)
    verb.before.insert(0, subject)
    return verb


def sentence(chance: random.Random) -> DependencyTree:
    """A clause with a capital letter and a full stop."""
    root = clause(chance, "root", chance.choice((0, 0, 1, 2)))
    root.after.append(Node(".", "PUNCT", "punct"))
    nodes = list(root.in_order())
    nodes[0].word = nodes[0].word.capitalize()
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


if __name__ == "__main__":
    main()
