"""Write src/hybonet/data/shipped/little_town: mentions of an invented town, their types, and tiny word vectors.

    python scripts/build_little_town.py

Everything is made here from a seed: sentences from templates, and word vectors that lie near those of words of the same
kind, as real ones do.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parents[1] / "src/hybonet/data/shipped/little_town"
SIZES = {"train": 420, "valid": 120, "test": 120}
NUMBERS = 16

#: Ultra-fine types: their coarse and fine type, nouns for them, and what is said of them around the gap.
KINDS: dict[str, tuple[str, str, str, tuple[str, ...]]] = {
    "baker": ("person", "worker", "baker confectioner", ("_ sold rolls at dawn", "the oven of _ was still warm")),
    "smith": ("person", "worker", "smith farrier", ("_ shod the horses", "sparks flew where _ worked")),
    "fisher": ("person", "worker", "fisher angler", ("_ mended the nets", "_ caught eels below the weir")),
    "painter": ("person", "artist", "painter portraitist", ("_ mixed the colours", "the canvas of _ dried slowly")),
    "singer": ("person", "artist", "singer soprano", ("_ sang until midnight", "everybody heard the voice of _")),
    "poet": ("person", "artist", "poet rhymer", ("_ read new verses aloud", "the rhymes of _ were admired")),
    "mayor": ("person", "official", "mayor provost", ("_ opened the meeting", "the council voted against _")),
    "judge": ("person", "official", "judge magistrate", ("_ passed sentence", "the lawyers bowed to _")),
    "school": ("place", "building", "school academy", ("pupils ran out of _", "the lessons at _ begin early")),
    "church": ("place", "building", "church chapel", ("the bells of _ rang", "they prayed inside _")),
    "mill": ("place", "building", "mill windmill", ("grain is ground at _", "the sails of _ turned")),
    "river": ("place", "landscape", "river stream", ("boats drifted down _", "_ froze in winter")),
    "hill": ("place", "landscape", "hill ridge", ("sheep climbed _", "snow lay on top of _")),
    "forest": ("place", "landscape", "forest wood", ("deer hid in _", "the oaks of _ are old")),
    "bank": ("organization", "company", "bank lender", ("_ lowered its interest", "savers trusted _")),
    "brewery": ("organization", "company", "brewery maltster", ("_ delivered barrels", "the beer of _ won a prize")),
    "choir": ("organization", "society", "choir chorus", ("_ rehearsed a hymn", "forty voices sing in _")),
    "team": ("organization", "society", "team club", ("_ won the final match", "_ scored twice")),
    "bread": ("object", "food", "bread loaf", ("he sliced _", "she spread butter on _")),
    "cheese": ("object", "food", "cheese curd", ("_ ripened in the cellar", "mice had eaten _")),
    "hammer": ("object", "tool", "hammer mallet", ("the nails were driven with _", "he swung _")),
    "plough": ("object", "tool", "plough harrow", ("oxen pulled _", "the furrows behind _ were straight")),
    "wedding": ("event", "celebration", "wedding marriage", ("the bride danced at _", "_ lasted three days")),
    "fair": ("event", "celebration", "fair market", ("stalls were put up for _", "pedlars came to _")),
    "flood": ("event", "disaster", "flood deluge", ("_ drowned the fields", "cellars filled during _")),
    "fire": ("event", "disaster", "fire blaze", ("_ burned six barns", "buckets were passed along to stop _")),
}
ADJECTIVES = ("old", "new", "famous", "quiet", "other", "best")
NAMES = ("Alva", "Brandt", "Corin", "Dorn", "Edda", "Falk", "Grete", "Holm", "Ivar", "Jorun", "Kersten", "Lund")
BEFORE = ("yesterday", "people say that", "last year", "in the evening", "as everybody knows", "it is told that")
COMMON = ". 's the a it he she one in of at and as to is that was are were nobody still its by"
AFTER = ("in the little town", "and nobody was surprised", "as every year", "before the rain came", "")


def mention(kind: str, chance: random.Random) -> str:
    """A noun phrase, a name, a name beside a noun, or a pronoun; the last two kinds leave the type to the context."""
    coarse, _, nouns, _ = KINDS[kind]
    noun = chance.choice(nouns.split())
    form = chance.random()
    if form < 0.4:
        return f"the {noun}"
    if form < 0.6:
        return f"the {chance.choice(ADJECTIVES)} {noun}"
    if form < 0.75:
        return f"{chance.choice(NAMES)} 's {noun}"
    if coarse == "person":
        return chance.choice((chance.choice(NAMES), "she", "he", f"{noun} {chance.choice(NAMES)}"))
    return chance.choice(("it", f"the {chance.choice(ADJECTIVES)} one", f"{chance.choice(NAMES)} {noun}"))


def row(kind: str, chance: random.Random) -> dict[str, object]:
    coarse, fine, _, templates = KINDS[kind]
    before, after = chance.choice(templates).split("_")
    left = [*(chance.choice(BEFORE).split() if chance.random() < 0.6 else []), *before.split()]
    right = [*after.split(), *chance.choice(AFTER).split(), "."]
    types = [coarse, fine, kind]
    # People name fewer types than there are: a fine or ultra-fine one is left out now and then.
    types = [coarse, *(name for name in types[1:] if chance.random() < 0.85)]
    return {
        "left_context_token": left,
        "mention_span": mention(kind, chance),
        "right_context_token": right,
        "y_str": types,
    }


def rows(chance: random.Random) -> dict[str, list[dict[str, object]]]:
    """Different sentences for each split."""
    seen: set[str] = set()
    found: dict[str, list[dict[str, object]]] = {}
    kinds = list(KINDS)
    for split, size in SIZES.items():
        found[split] = []
        while len(found[split]) < size:
            new = row(kinds[len(found[split]) % len(kinds)], chance)
            key = json.dumps({**new, "y_str": None})
            if key not in seen:
                seen.add(key)
                found[split].append(new)
        chance.shuffle(found[split])
    return found


def vectors(seed: int) -> dict[str, np.ndarray]:
    """A vector per word: nouns and the words of templates near the direction of their kind, others anywhere."""
    random_numbers = np.random.default_rng(seed)

    def draw(length: float) -> np.ndarray:
        direction = random_numbers.normal(size=NUMBERS)
        return length * direction / np.linalg.norm(direction)

    groups: dict[str, np.ndarray] = {}
    common = dict.fromkeys(COMMON.split())
    found = {word: draw(1.0) for word in dict.fromkeys([*common, *ADJECTIVES, *" ".join((*BEFORE, *AFTER)).split()])}
    found |= {name.lower(): draw(0.5) + groups.setdefault("person", draw(1.5)) for name in NAMES}
    for kind, (coarse, fine, nouns, templates) in KINDS.items():
        centre = groups.setdefault(coarse, draw(1.5)) + groups.setdefault(fine, draw(1.5)) + draw(1.5)
        for noun in [*nouns.split(), kind]:
            found.setdefault(noun, centre + draw(0.7))
        for word in " ".join(templates).replace("_", " ").split():
            found.setdefault(word, 0.6 * centre + draw(1.2))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=FOLDER)
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    for split, found in rows(random.Random(7)).items():
        text = "".join(json.dumps(each) + "\n" for each in found)
        (out / f"{split}.jsonl.xz").write_bytes(lzma.compress(text.encode()))
    levels = {coarse: "coarse" for coarse, *_ in KINDS.values()} | {fine: "fine" for _, fine, *_ in KINDS.values()}
    levels |= dict.fromkeys(KINDS, "ultra-fine")
    (out / "types.tsv").write_text("".join(f"{name}\t{level}\n" for name, level in levels.items()))
    lines = [f"{word} {' '.join(f'{value:.4f}' for value in vector)}\n" for word, vector in vectors(7).items()]
    (out / "words.txt.xz").write_bytes(lzma.compress("".join(lines).encode()))


if __name__ == "__main__":
    main()
