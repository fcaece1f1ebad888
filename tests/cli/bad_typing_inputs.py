"""What people get wrong with entity typing, and what they are told."""

from __future__ import annotations

import json

from tests.cli.staging import MENTIONS, BadInput, cut, replace, write

TRAIN = "train typing --data mentions.jsonl --words words.txt --out new"
ASK = "predict typed --sentence"


def _row(**changes: object) -> str:
    good = {"left_context_token": ["the"], "mention_span": "mill", "right_context_token": ["."], "y_str": ["place"]}
    return json.dumps({**good, **changes}) + "\n"


def _rows(content: str, problem: str, *expected: str, options: str = "") -> BadInput:
    command = f"train typing --data odd.jsonl --words words.txt --out new {options}".strip()
    return BadInput(problem, command, expected, write("odd.jsonl", content))


def _words(content: str | bytes, problem: str, *expected: str, name: str = "odd.txt") -> BadInput:
    command = f"train typing --data mentions.jsonl --words {name} --out new"
    return BadInput(problem, command, expected, write(name, content))


def _types(content: str, problem: str, *expected: str) -> BadInput:
    return BadInput(problem, f"{TRAIN} --types types.tsv", expected, write("types.tsv", content))


TYPING = [
    BadInput("mentions by a name with a slip", "train typing --data ufte --out new", ("did you mean 'ufet'?",)),
    BadInput(
        "the Open Entity data where it is not",
        "train typing --data ufet --out new",
        ("train.json, dev.json, test.json, types.txt", "HYBONET_DATA"),
    ),
    _rows("", "an empty file of mentions", "odd.jsonl: expected a mention per line, got none; add some"),
    _rows(MENTIONS + "{oops\n", "a row that is not JSON", "odd.jsonl, line 41: expected a JSON object per line"),
    _rows(MENTIONS + "[1]\n", "a row that is a list", "line 41: expected a JSON object per line, got '[1]'"),
    _rows(_row(mention_span=""), "an empty mention", "line 1: expected the words of the mention as text"),
    _rows(_row(y_str="place"), "a type that is no list", "line 1: expected a list of words in y_str, got 'place'"),
    _rows(
        _row().replace("y_str", "y_strs"),
        "a key with a slip",
        "line 1: expected a key 'y_str'",
        "rename 'y_strs'",
    ),
    _rows(_row() * 3, "too few mentions to split", "to hold out a tenth each", "got 1 sentences"),
    _types(
        "place\tcoarse\nperson\tcoarse\n",
        "a type that the inventory lacks",
        "line 1: expected one of 2 types, got 'mill'",
    ),
    _types("place\tcoarse\nperson\n", "a level for some types only", "types.tsv, line 2: expected a level for every"),
    _types("place\nplace\n", "a type twice", "types.tsv, line 2: expected each type once, got 'place' again"),
    _words("the 1 2\nmill 1\n", "word vectors of two sizes", "odd.txt, line 2: expected a word and 2 numbers"),
    _words("the 1 x\n", "word vectors that are words", "odd.txt, line 1: expected numbers after the word"),
    _words("the 1 nan\n", "word vectors with NaN", "odd.txt, line 1: expected finite numbers"),
    _words("der 1 2\n", "word vectors of another language", "has none of the", "same language"),
    _words(b"\x1f\x8b\x08cut", "a gzip file of vectors cut off", "expected gz data", name="odd.txt.gz"),
    BadInput("heads that do not fit the typer", f"{TRAIN} --set heads=3", ("dim to be a multiple of heads", "heads=3")),
    BadInput("an unknown typing model", f"{TRAIN} --set model=LabelGNC", ("setting model", "got 'LabelGNC'")),
    BadInput("a recipe of another task", f"{TRAIN} --recipe default", ("'default' is one for train kg",)),
    BadInput("a sentence without a mention", f"{ASK} 'The mill burned.'", ("expected one mention in brackets",)),
    BadInput("two mentions in brackets", f"{ASK} 'The [mill] near the [town].'", ("expected one mention in brackets",)),
    BadInput(
        "a mention that is not in the sentence",
        f"{ASK} 'The mill burned.' --mention church",
        ("expected the mention 'church' once in the sentence, it is not there",),
    ),
    BadInput("neither sentence nor file", "predict typed", ("expected either a --sentence or a file of --mentions",)),
    BadInput(
        "a threshold twice",
        "evaluate typed --threshold 0.3 --calibrate",
        ("expected --threshold or --calibrate, got both",),
    ),
    BadInput("a threshold above 1", "evaluate typed --threshold 2", ("Invalid value for '--threshold'",)),
    BadInput(
        "an exported file that exists",
        "export typed --to vectors --output mentions.tsv",
        ("expected a new file, but 'mentions.tsv' exists",),
        write("mentions.tsv", "mine"),
    ),
    BadInput(
        "words cut off",
        f"{ASK} 'The [mill] burned.'",
        ("typed/vectors.safetensors: expected a vector for each line of words.tsv",),
        cut("typed/words.tsv"),
    ),
    BadInput(
        "a type without its level",
        f"{ASK} 'The [mill] burned.'",
        ("typed/types.tsv: expected a type and its level per line, but line 1 is not one",),
        replace("typed/types.tsv", "\t", " "),
    ),
    BadInput(
        "a run without its mentions",
        "evaluate typed",
        ("expected mentions_test.jsonl in the run, but it is missing",),
        lambda folder: (folder / "typed/mentions_test.jsonl").unlink(),
    ),
]
