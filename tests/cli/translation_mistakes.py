"""What people get wrong with parallel text and translation runs; part of bad_inputs.py."""

from __future__ import annotations

import shutil
import tempfile
from functools import lru_cache
from pathlib import Path

from tests.cli.staging import BadInput, Prepare, both, cut, run, write

PAIRS = "".join(f"sentence number {i}\tSatz Nummer {i}\n" for i in range(40))
QUICK = "--set dim=4 --set heads=2 --set layers=1 --set epochs=1 --set tokenizer=words --threads 1"
TRAIN = "train translation --data pairs.tsv --out new"
TWO = "train translation --source a.en --target a.de --out new"


@lru_cache(maxsize=1)
def _trained() -> Path:
    """A run, made once."""
    folder = Path(tempfile.mkdtemp())
    (folder / "pairs.tsv").write_text(PAIRS)
    outcome = run(f"train translation --data pairs.tsv --out mt {QUICK} --set max_length=8 --set beam=2", folder)
    assert outcome.code == 0, outcome.output
    return folder / "mt"


def trained(folder: Path) -> None:
    """A copy of the run as ``mt``."""
    shutil.copytree(_trained(), folder / "mt")


def _data(name: str, content: str | bytes, problem: str, *expected: str, options: str = "") -> BadInput:
    command = f"train translation --data {name} --out new {options}".strip()
    return BadInput(problem, command, expected, write(name, content))


def _two(first: str, second: str, problem: str, *expected: str) -> BadInput:
    return BadInput(problem, TWO, expected, both(write("a.en", first), write("a.de", second)))


def _set(assignment: str, problem: str, *expected: str) -> BadInput:
    return BadInput(problem, f"{TRAIN} --set {assignment}", expected, write("pairs.tsv", PAIRS))


def _ask(arguments: str, problem: str, *expected: str, prepare: Prepare = trained) -> BadInput:
    return BadInput(problem, f"translate mt {arguments}", expected, prepare)


MISTAKES = [
    _two("a\nb\nc\n", "x\ny\n", "two files that are not aligned", "as many lines in a.de as in a.en, got 2 and 3"),
    _two("", "x\n", "an empty file of sentences", "a.en: expected sentences, got an empty file"),
    _two("\n\n", "x\ny\n", "a file of empty lines", "a.en: expected sentences, got an empty file"),
    _two("a\nb\n", "x\ny\n", "too few pairs to hold some out", "expected 10 different sentences or more", "got 2"),
    BadInput("one of two files", "train translation --source a.en --out new", ("'a.en' alone; give --source and",)),
    BadInput(
        "a corpus and two files",
        "train translation --data toy --source a.en --target a.de --out new",
        ("either a corpus (--data) or two aligned files",),
    ),
    _data("pairs.tsv", "a dog\tein Hund\na cat\n", "a row without translation", "pairs.tsv, line 2", "got 1 column;"),
    _data("pairs.tsv", "a\tx\ty\n", "a row with two translations", "pairs.tsv, line 1", "got 3 columns"),
    _data("pairs.tsv", b"caf\xe9\tx\n", "pairs that are not UTF-8", "pairs.tsv, line 1: expected UTF-8 text"),
    BadInput("a corpus with a slip", "train translation --data multi30 --out new", ("did you mean 'multi30k'?",)),
    BadInput(
        "a corpus that is not here",
        "train translation --data iwslt14 --out new",
        ("files of iwslt14 on the search path", "into a folder iwslt14_de-en there"),
    ),
    BadInput(
        "a language that a corpus does not have",
        "train translation --data toy --direction en-fr --out new",
        ("expected the direction en-toy or toy-en, got 'en-fr'",),
    ),
    _data("pairs.tsv", PAIRS, "no languages", "such as en-de, got 'english'", options="--direction english"),
    _data("pairs.tsv", PAIRS, "one language twice", "expected two different languages", options="--direction en-en"),
    BadInput(
        "a folder by language without --direction",
        "train translation --data talks --out new",
        ("talks: expected train.tsv, or train.en and train.de", "give --direction, such as en-de"),
        both(write("talks/train.en", "a\n"), write("talks/train.de", "x\n")),
    ),
    _set("tokenizer=wordpiece", "an unknown tokenizer", "setting tokenizer: expected 'unigram', 'bpe'"),
    _set("tokenizer=subword-nmt", "no merges", "expected merges for tokenizer=subword-nmt, got none"),
    _set("heads=5", "heads that do not fit", "dim to be a multiple of heads", "got dim=32 and heads=5"),
    _set("batch_tokens=50", "a batch below the longest sentence", "batch_tokens above max_length, got 50 and 100"),
    _set("max_length=1", "no sentence short enough", "training pairs of at most 1 tokens, but pairs.tsv has none"),
    _data(
        "chars.tsv",
        "".join(f"sentence {i}\t{chr(0x4E00 + 9 * i)}{chr(0x4E01 + 9 * i)}{chr(0x4E02 + 9 * i)}\n" for i in range(150)),
        "fewer subwords than characters",
        "since the text has about so many different characters, got 300; set vocabulary to",
        options="--set vocabulary=300",
    ),
    BadInput(
        "a search for the best subwords",
        "tune translation --data pairs.tsv --range vocabulary=100,200 --out new",
        ("range of vocabulary: perplexities of different tokens cannot be compared; fix it with --set vocabulary=",),
        write("pairs.tsv", PAIRS),
    ),
    BadInput(
        "curvature for a flat model",
        f"{TRAIN} --set model=euclidean --set K=-2",
        ("expected a setting that model=euclidean has, got 'K', which is one of hybonet",),
        write("pairs.tsv", PAIRS),
    ),
    BadInput(
        "merges for another tokenizer",
        f"{TRAIN} --codes codes",
        ("tokenizer=subword-nmt with --codes, got tokenizer=bpe",),
        both(write("pairs.tsv", PAIRS), write("codes", "#version: 0.2\na b\n")),
    ),
    BadInput(
        "merges that are none",
        f"{TRAIN} --codes codes --set tokenizer=subword-nmt",
        ("codes, line 1: expected two symbols per line, got 'a b c'",),
        both(write("pairs.tsv", PAIRS), write("codes", "a b c\n")),
    ),
    BadInput("translating with a graph", "translate run", ("a run of hybonet train translation in 'run'", "train kg")),
    _ask("absent.txt", "no such file of sentences", "'absent.txt', which is not there"),
    _ask("no.txt", "nothing to translate", "no.txt: expected sentences", prepare=both(trained, write("no.txt", ""))),
    _ask("a.txt --n-best 3", "several translations as text", "expected --format tsv or json with --n-best"),
    _ask("a.txt --beam 2 --n-best 3 --format tsv", "more translations than the beam has", "beam's 2, got 3"),
    _ask("a.txt --temperature inf", "an infinite temperature", "temperature: expected a finite number, got inf"),
    _ask("a.txt --seed 3", "a seed without a draw", "expected --seed with --temperature: a search draws nothing"),
    _ask("a.txt --beam 1 --length-penalty 2", "a penalty that compares nothing", "--length-penalty with a beam of 2"),
    _ask("a.txt --temperature 1 --length-penalty 2", "a penalty of a draw", "--length-penalty with a beam of 2"),
    _ask("a.txt --output absent/b.txt", "translations into no folder", "a file in a folder that is not there"),
    _ask(
        "a.txt --output a.txt --overwrite",
        "translations over their own sentences",
        "expected --output to be another file than that of the sentences, got 'a.txt' for both",
        prepare=both(trained, write("a.txt", "sentence\n")),
    ),
    BadInput(
        "a language of a split without the other",
        "train translation --data text --direction en-de --out new",
        ("text: expected valid.de beside valid.en, got only one of them",),
        both(write("text/train.tsv", PAIRS), write("text/valid.en", "a sentence\n")),
    ),
    _ask("a.txt --top-p 0.9", "chance without a temperature", "top_k and top_p with a temperature"),
    _ask("a.txt --beam 2 --temperature 1", "a beam and chance", "expected --beam or --temperature, got both"),
    BadInput("a split with a slip", "evaluate mt --split tset", ("got 'tset'; did you mean 'test'?",), trained),
    _ask(
        "a.txt",
        "a tokenizer that was lost",
        "expected source.spm or source.tokens.json in 'mt'",
        prepare=both(trained, lambda folder: (folder / "mt/source.tokens.json").unlink()),
    ),
    _ask(
        "a.txt", "a damaged tokenizer", "expected tokens as JSON", prepare=both(trained, cut("mt/source.tokens.json"))
    ),
    BadInput(
        "going on with damaged tokens",
        "train translation --out mt --resume",
        ("tokens.safetensors: expected a safetensors file, got a damaged one",),
        both(trained, cut("mt/tokens.safetensors")),
    ),
    BadInput(
        "evaluating without the held-out text",
        "evaluate mt",
        ("held_out.jsonl: expected a pair per line as JSON",),
        both(trained, cut("mt/held_out.jsonl")),
    ),
]

_ODD = "train translation --data odd.tsv --out new --set layers=1 --set heads=2 --set tokenizer=words"
NOTED = [
    BadInput(
        "a pair with an empty side",
        _ODD,
        ("odd.tsv: 2 pairs with an empty side left out (lines 41, 42)",),
        write("odd.tsv", PAIRS + "a dog\t\n\n"),
    ),
    BadInput(
        "a sentence over the limit",
        f"{_ODD} --set max_length=5",
        ("of more than 5 tokens left out",),
        write("odd.tsv", PAIRS + "".join(f"{i} a b c d e f\tx\n" for i in range(90))),
    ),
]
