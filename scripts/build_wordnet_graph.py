"""Write a knowledge graph of WordNet 3.0's well-known synsets: train, valid and test triples, and names.

Source: data.*, index.* and cntlist.rev of Debian's package wordnet-base (apt-get install wordnet-base).

Which synsets: those that people know. A synset is as familiar as

    ln(1 + times its words were tagged with it) + ln(1 + glosses that hold its first word) / sense number,

the tags being those of cntlist.rev and the glosses WordNet's own 117,659. Taken are nouns below the well-known DOMAINS
from a low bar, any noun, verb or adjective from a high one, and what lies above these by hypernym. Left out are the
BRANCHES_LEFT_OUT (Latin taxa, for one) and words marked as slurs or obscene. Then synsets with fewer than two
neighbours go, again and again, and of what is left the largest connected part stays.

Which triples: every pointer of RELATIONS between two of these synsets. Of a pair of pointers that say the same in both
directions (part and whole) one is kept; symmetric relations keep both. Added is inherited_hypernym, to what lies two or
three hypernyms above: a tree alone gives a held-out branch no second way to be known, with these each one has several.
So about half the triples follow from the others, and scores on this graph do not compare with those on WN18RR.

The split is fixed (seed 0, 85 / 7.5 / 7.5 %): every entity and relation occurs in train, and triples that join the same
two synsets by relations that ever repeat each other are on the same side.

Names follow NLTK (dog.n.01); the names file adds the word as written and its definition.
"""

from __future__ import annotations

import argparse
import lzma
import math
import re
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

import torch

from build_wordnet_hierarchy import read_lines, read_senses
from hybonet.data.triples.split import split_triples

FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
RELATIONS = {
    "@": "hypernym",
    "@i": "instance_hypernym",
    "#m": "member_of",
    "#p": "part_of",
    "#s": "substance_of",
    "+": "derivationally_related",
    "!": "antonym",
    "&": "similar_to",
    "=": "attribute",
    "$": "verb_group",
    ";c": "domain_topic",
    ";r": "domain_region",
    "^": "also_see",
    "*": "entails",
    ">": "causes",
    "\\": "pertains_to",
}
DOMAINS = (
    "animal.n.01",
    "art.n.01",
    "ball.n.01",
    "body_of_water.n.01",
    "body_part.n.01",
    "building.n.01",
    "celestial_body.n.01",
    "chemical_element.n.01",
    "chromatic_color.n.01",
    "clothing.n.01",
    "container.n.01",
    "disease.n.01",
    "feeling.n.01",
    "food.n.01",
    "food.n.02",
    "furniture.n.01",
    "game.n.01",
    "geological_formation.n.01",
    "land.n.04",
    "language.n.01",
    "location.n.01",
    "material.n.01",
    "meal.n.01",
    "metal.n.01",
    "music.n.01",
    "musical_instrument.n.01",
    "natural_object.n.01",
    "organization.n.01",
    "person.n.01",
    "plant.n.02",
    "region.n.03",
    "road.n.01",
    "room.n.01",
    "science.n.01",
    "sport.n.01",
    "time_period.n.01",
    "tool.n.01",
    "vehicle.n.01",
    "weapon.n.01",
    "weather.n.01",
)
INHERITED, INHERITED_LEVELS = "inherited_hypernym", 3
BRANCHES_LEFT_OUT = ("taxonomic_group.n.01", "reproductive_organ.n.01", "person_of_color.n.01", "white.n.01")
LEFT_OUT = ("jewess.n.01", "ku_klux_klan.n.01", "pimp.n.01")
UNWELCOME = re.compile(r"\b(slur|obscene|offensive|disparag\w*|derogatory|vulgar)\b")
FAMILIAR_IN_A_DOMAIN, FAMILIAR_ANYWHERE = 2.0, 6.5
MIN_NEIGHBOURS = 2
VALID = TEST = 0.075
SHIPPED = Path(__file__).resolve().parents[1] / "src/hybonet/data/shipped"

Key = tuple[str, str]  # part of speech and offset


@dataclass(frozen=True)
class Synset:
    kind: str  # n, v, a, r, or s for a satellite adjective
    words: list[str]
    pointers: list[tuple[str, Key]]
    gloss: str


class WordNet:
    """The database in memory: synsets by key, and a word's keys from its most frequent sense on."""

    def __init__(self, folder: Path) -> None:
        self.senses: dict[tuple[str, str], list[str]] = {}
        self.synsets: dict[Key, Synset] = {}
        for part, file in FILES.items():
            senses = read_senses(read_lines(folder, f"index.{file}"))
            self.senses |= {(word, part): offsets for word, offsets in senses.items()}
            for line in read_lines(folder, f"data.{file}"):
                offset, synset = parse_synset(line)
                self.synsets[part, offset] = synset
        self.tags = self._read_tags(read_lines(folder, "cntlist.rev"))

    def _read_tags(self, lines: list[str]) -> Counter[Key]:
        """How often each synset was tagged. A line: word%type:..., sense number, count; type 5 is a satellite."""
        parts = dict(zip("12345", "nvara", strict=True))
        tags: Counter[Key] = Counter()
        for line in lines:
            sense_key, number, count = line.split()
            word, _, rest = sense_key.partition("%")
            offsets = self.senses.get((word, parts[rest[0]]), [])
            if int(number) <= len(offsets):
                tags[parts[rest[0]], offsets[int(number) - 1]] += int(count)
        return tags

    def sense_number(self, key: Key) -> int:
        return self.senses[self.synsets[key].words[0].lower(), key[0]].index(key[1]) + 1

    def name(self, key: Key) -> str:
        synset = self.synsets[key]
        return f"{synset.words[0].lower()}.{synset.kind}.{self.sense_number(key):02d}"

    def key(self, name: str) -> Key:
        word, kind, number = name.rsplit(".", 2)
        return kind, self.senses[word, kind][int(number) - 1]


def parse_synset(line: str) -> tuple[str, Synset]:
    """A line of data.*: offset, lexicographer file, type, words, pointers (symbol, offset, part, ends) | gloss."""
    data, _, gloss = line.partition(" | ")
    fields = data.split()
    at = 4 + 2 * int(fields[3], 16)
    words = [re.sub(r"\(\w+\)$", "", word) for word in fields[4:at:2]]  # adjectives mark their place: alive(p)
    ends = range(at + 1, at + 1 + 4 * int(fields[at]), 4)
    pointers = [(fields[i], (fields[i + 2].replace("s", "a"), fields[i + 1])) for i in ends]
    return fields[0], Synset(fields[2], words, pointers, gloss.strip())


def familiarity(wordnet: WordNet) -> dict[Key, float]:
    """How well people know each synset, as the head of this file says."""
    compounds = {word for word, _ in wordnet.senses if "_" in word}
    glosses: Counter[str] = Counter()
    for synset in wordnet.synsets.values():
        words = re.findall(r"[a-z](?:[a-z'.-]*[a-z])?", synset.gloss.lower())
        runs = {"_".join(words[i : i + n]) for n in (2, 3) for i in range(len(words) - n + 1)}
        glosses.update(set(words) | (runs & compounds))
    return {
        key: math.log1p(wordnet.tags[key]) + math.log1p(glosses[synset.words[0].lower()]) / wordnet.sense_number(key)
        for key, synset in wordnet.synsets.items()
    }


def closure(start: set[Key], step: dict[Key, list[Key]]) -> set[Key]:
    """The start and all that its steps lead to."""
    found, waiting = set(start), list(start)
    while waiting:
        new = set(step[waiting.pop()]) - found
        found |= new
        waiting += new
    return found


def choose(wordnet: WordNet, triples: set[tuple[Key, str, Key]]) -> set[Key]:
    """The synsets of the graph."""
    above: dict[Key, list[Key]] = defaultdict(list)
    below: dict[Key, list[Key]] = defaultdict(list)
    for head, relation, tail in triples:
        if relation in ("hypernym", "instance_hypernym"):
            above[head].append(tail)
            below[tail].append(head)
    known = familiarity(wordnet)
    unwelcome = closure({wordnet.key(name) for name in BRANCHES_LEFT_OUT}, below)
    unwelcome |= {wordnet.key(name) for name in LEFT_OUT}
    unwelcome |= {key for key, synset in wordnet.synsets.items() if UNWELCOME.search(synset.gloss.partition('; "')[0])}
    in_domains = closure({wordnet.key(name) for name in DOMAINS}, below)
    start = {key for key in in_domains if known[key] >= FAMILIAR_IN_A_DOMAIN}
    start |= {key for key, how in known.items() if how >= FAMILIAR_ANYWHERE and key[0] != "r"}
    return prune(closure(start - unwelcome, above) - unwelcome, triples)


def prune(chosen: set[Key], triples: set[tuple[Key, str, Key]]) -> set[Key]:
    """The largest connected part in which each synset has enough neighbours."""
    while True:
        neighbours: dict[Key, list[Key]] = {key: [] for key in chosen}
        for head, _, tail in triples:
            if head in chosen and tail in chosen and tail not in neighbours[head]:
                neighbours[head].append(tail)
                neighbours[tail].append(head)
        kept = {key for key in chosen if len(neighbours[key]) >= MIN_NEIGHBOURS}
        inside = {key: [other for other in neighbours[key] if other in kept] for key in kept}
        largest: set[Key] = set()
        unseen = set(kept)
        while unseen:
            part = closure({min(unseen)}, inside)
            unseen -= part
            largest = max(largest, part, key=len)
        if largest == chosen:
            return chosen
        chosen = largest


def inherited(triples: set[tuple[Key, str, Key]]) -> set[tuple[Key, str, Key]]:
    """From each synset to those two to INHERITED_LEVELS hypernyms above it, unless they are also directly above."""
    above: dict[Key, set[Key]] = defaultdict(set)
    for head, relation, tail in triples:
        if relation in ("hypernym", "instance_hypernym"):
            above[head].add(tail)
    found = set()
    for key in list(above):
        level = above[key]
        for _ in range(INHERITED_LEVELS - 1):
            level = {higher for lower in level for higher in above.get(lower, ())}
            found |= {(key, INHERITED, higher) for higher in level - above[key] - {key}}
    return found


def build(folder: Path) -> dict[str, str]:
    """The text of each file."""
    wordnet = WordNet(folder)
    everything = {
        (head, RELATIONS[symbol], tail)
        for head, synset in wordnet.synsets.items()
        for symbol, tail in synset.pointers
        # An attribute is pointed at from both ends; the noun's end says the same.
        if symbol in RELATIONS and head != tail and not (symbol == "=" and head[0] == "n")
    }
    chosen = choose(wordnet, everything)
    inside = {triple for triple in everything if triple[0] in chosen and triple[2] in chosen}
    inside |= inherited(inside)
    names = {key: wordnet.name(key) for key in chosen}
    entities, relations = sorted(names.values()), sorted([*RELATIONS.values(), INHERITED])
    number = {name: at for at, name in enumerate(entities)}
    numbered = [(number[names[head]], relations.index(name), number[names[tail]]) for head, name, tail in inside]
    parts = split_triples(torch.tensor(sorted(numbered)), valid=VALID, test=TEST, seed=0, threshold=0.0)
    texts = {
        part: "".join(f"{entities[h]}\t{relations[r]}\t{entities[t]}\n" for h, r, t in triples.tolist())
        for part, triples in (("train", parts.train), ("valid", parts.valid), ("test", parts.test))
    }
    rows = sorted((name, wordnet.synsets[key]) for key, name in names.items())
    texts["names"] = "".join(
        f"{name}\t{synset.words[0].replace('_', ' ')}\t{definition(synset.gloss)}\n" for name, synset in rows
    )
    return texts


def definition(gloss: str) -> str:
    """A gloss without its quoted examples."""
    return gloss.partition('; "')[0].strip().rstrip(";").replace("\t", " ")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("/usr/share/wordnet"), help="default: %(default)s")
    parser.add_argument("--out", type=Path, default=SHIPPED, help="default: the folder of shipped data")
    arguments = parser.parse_args()
    try:
        texts = build(arguments.folder)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for part, text in texts.items():
        path = arguments.out / f"wordnet_graph_{part}.tsv.xz"
        path.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
        print(f"{text.count(chr(10)):,} rows, {path.stat().st_size:,} bytes written to {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
