"""Write the direct hypernym edges of WordNet 3.0's mammals: `child<TAB>parent`, sorted, one edge per line.

Source: `data.noun` and `index.noun` of Debian's package wordnet-base (apt-get install wordnet-base), plain or `.xz`.

What is counted: mammal.n.01 and everything below it, except tusker.n.01 and female_mammal.n.01, two leaves which
Nickel and Kiela left out of their mammal subtree. An edge is a direct hypernym pointer whose two ends are both counted:
`@` for kinds (one of them has two parents), `@i` for named individuals (eleven racehorses and the fossil Lucy). The
transitive closure of these edges, each (descendant, ancestor) once and no self pairs, has the 6,540 pairs over 1,180
synsets on which Nickel and Kiela report.

Names follow NLTK: the synset's first word in lower case, `.n.`, and the two-digit sense number of that word, which is
the synset's place in the word's line of `index.noun`. So dog.n.01 is the animal and dog.n.03 the fellow.
"""

from __future__ import annotations

import argparse
import lzma
import sys
from collections import defaultdict
from pathlib import Path

ROOT_NAME = "mammal.n.01"
HYPERNYM_POINTERS = {"@", "@i"}
LEFT_OUT = {"tusker.n.01", "female_mammal.n.01"}
DEFAULT_OUTPUT = Path(__file__).resolve().parents[1] / "src/hybonet/data/shipped/wordnet_mammals.tsv"


def read_lines(folder: Path, name: str) -> list[str]:
    """The entries of one database file; its licence header is the lines that begin with a space."""
    plain, packed = folder / name, folder / f"{name}.xz"
    if plain.is_file():
        text = plain.read_text(encoding="utf-8")
    elif packed.is_file():
        text = lzma.decompress(packed.read_bytes()).decode("utf-8")
    else:
        raise ValueError(
            f"expected {name} or {name}.xz in {folder}, found neither; install it with apt-get install wordnet-base, "
            "or give the folder that holds WordNet 3.0's database files"
        )
    return [line for line in text.splitlines() if line and not line.startswith(" ")]


def read_senses(lines: list[str]) -> dict[str, list[str]]:
    """Synset offsets of every word, most frequent sense first.

    A line of index.noun: word, part of speech, number of synsets n, p and p pointer symbols, two counts, n offsets.
    """
    senses = {}
    for line in lines:
        fields = line.split()
        senses[fields[0]] = fields[-int(fields[2]) :]
    return senses


def read_synsets(lines: list[str]) -> tuple[dict[str, str], dict[str, list[str]]]:
    """First word and direct hypernyms of every synset, by offset.

    A line of data.noun: offset, lexicographer file, type, number of words (hexadecimal), word and id for each, number
    of pointers, then symbol, offset, part of speech and source/target for each.
    """
    words, hypernyms = {}, {}
    for line in lines:
        fields = line.split(" | ")[0].split()
        offset, word_count = fields[0], int(fields[3], 16)
        words[offset] = fields[4].lower()
        at = 4 + 2 * word_count
        pointers = [fields[at + 1 + 4 * i : at + 5 + 4 * i] for i in range(int(fields[at]))]
        hypernyms[offset] = [target for symbol, target, *_ in pointers if symbol in HYPERNYM_POINTERS]
    return words, hypernyms


def edges_below(root: str, hypernyms: dict[str, list[str]]) -> list[tuple[str, str]]:
    """Direct edges among the root and everything below it."""
    hyponyms = defaultdict(list)
    for child, parents in hypernyms.items():
        for parent in parents:
            hyponyms[parent].append(child)
    members, waiting = {root}, [root]
    while waiting:
        for child in hyponyms[waiting.pop()]:
            if child not in members:
                members.add(child)
                waiting.append(child)
    return [(child, parent) for child in members for parent in hypernyms[child] if parent in members]


def build(folder: Path) -> str:
    """The whole text of the TSV file."""
    senses = read_senses(read_lines(folder, "index.noun"))
    words, hypernyms = read_synsets(read_lines(folder, "data.noun"))

    def name(offset: str) -> str:
        word = words[offset]
        return f"{word}.n.{senses[word].index(offset) + 1:02d}"

    word, _, sense = ROOT_NAME.split(".")
    root = senses[word][int(sense) - 1]
    edges = sorted((name(child), name(parent)) for child, parent in edges_below(root, hypernyms))
    return "".join(f"{child}\t{parent}\n" for child, parent in edges if child not in LEFT_OUT)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("/usr/share/wordnet"), help="default: %(default)s")
    parser.add_argument("--out", type=Path, default=DEFAULT_OUTPUT, help="default: the file shipped in the package")
    arguments = parser.parse_args()
    try:
        text = build(arguments.folder)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    arguments.out.write_text(text, encoding="utf-8", newline="\n")
    print(f"{text.count(chr(10))} edges written to {arguments.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
