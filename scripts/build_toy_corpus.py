"""Write the toy parallel corpus inside the package: English sentences of a small grammar, and the same in Toy.

    python scripts/build_toy_corpus.py

Toy is an invented language that differs from English where languages do: the adverb comes first and the verb last, the
adjective follows its noun and agrees with the noun's class and number, and tense is an ending of the verb.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: English noun, its plural, the stem in Toy and its class.
NOUNS = [
    ("dog", "dogs", "wauk", "a"),
    ("cat", "cats", "miru", "o"),
    ("bird", "birds", "pipel", "o"),
    ("horse", "horses", "trab", "a"),
    ("child", "children", "kenda", "a"),
    ("woman", "women", "farin", "o"),
    ("man", "men", "merol", "a"),
    ("tree", "trees", "bolm", "o"),
    ("house", "houses", "dakar", "a"),
    ("book", "books", "lesul", "o"),
    ("apple", "apples", "polm", "a"),
    ("river", "rivers", "renno", "o"),
]
#: English verb (present with one, with several, past) and its stem in Toy.
VERBS = [
    ("sees", "see", "saw", "vid"),
    ("finds", "find", "found", "trov"),
    ("loves", "love", "loved", "lib"),
    ("hears", "hear", "heard", "aud"),
    ("paints", "paint", "painted", "mal"),
    ("follows", "follow", "followed", "sekv"),
    ("guards", "guard", "guarded", "gard"),
    ("draws", "draw", "drew", "desen"),
]
ADJECTIVES = [("small", "pit"), ("big", "gran"), ("red", "rub"), ("old", "vel"), ("young", "jun"), ("quiet", "silt")]
#: English determiner, whether it wants the plural, and the word in Toy; the definite article is an ending instead.
DETERMINERS = [("the", None, ""), ("a", False, "un"), ("this", False, "di"), ("two", True, "du"), ("many", True, "mul")]
#: English adverb, the word in Toy, and whether it wants the past.
ADVERBS = [("today", "hodu", False), ("often", "ofta", False), ("yesterday", "hira", True), ("again", "resi", None)]
SIZES = {"train": 600, "valid": 60, "test": 60}


def noun_phrase(chance: random.Random) -> tuple[str, str, bool]:
    """English, Toy, and whether it is several."""
    singular, plural, stem, kind = chance.choice(NOUNS)
    determiner, wants_plural, toy_determiner = chance.choice(DETERMINERS)
    several = chance.random() < 0.4 if wants_plural is None else wants_plural
    ending = "j" if several else ""
    noun = stem + kind + ending + ("n" if determiner == "the" else "")
    english, toy = [determiner], [toy_determiner, noun] if toy_determiner else [noun]
    if chance.random() < 0.6:
        adjective, toy_adjective = chance.choice(ADJECTIVES)
        english.append(adjective)
        toy.append(toy_adjective + kind + ending)
    english.append(plural if several else singular)
    if english[0] == "a" and english[1][0] in "aeiou":
        english[0] = "an"
    return " ".join(english), " ".join(toy), several


def sentence(chance: random.Random) -> tuple[str, str]:
    """A sentence and its translation."""
    subject, toy_subject, several = noun_phrase(chance)
    object_, toy_object, _ = noun_phrase(chance)
    one, many, before, stem = chance.choice(VERBS)
    past = chance.random() < 0.5
    adverb, toy_adverb, wants_past = chance.choice(ADVERBS)
    with_adverb = chance.random() < 0.6
    if with_adverb and wants_past is not None:
        past = wants_past
    verb = before if past else many if several else one
    english = f"{subject} {verb} {object_}{' ' + adverb if with_adverb else ''}."
    toy = f"{toy_adverb + ' ' if with_adverb else ''}{toy_subject} {toy_object} {stem}{'is' if past else 'as'}."
    return english[0].upper() + english[1:], toy[0].upper() + toy[1:]


def corpus(seed: int = 0) -> dict[str, list[tuple[str, str]]]:
    """Different sentences for each split."""
    chance = random.Random(seed)
    pairs: dict[str, str] = {}
    while len(pairs) < sum(SIZES.values()):
        english, toy = sentence(chance)
        pairs.setdefault(english, toy)
    rest = iter(pairs.items())
    return {split: [next(rest) for _ in range(size)] for split, size in SIZES.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=ROOT / "src/hybonet/data/shipped/toy_corpus")
    folder = parser.parse_args().output
    for split, pairs in corpus().items():
        path = folder / f"{split}.tsv"
        path.write_text("".join(f"{english}\t{toy}\n" for english, toy in pairs), encoding="utf-8")
        print(path)


if __name__ == "__main__":
    main()
