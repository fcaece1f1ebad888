"""What people get wrong with encoders, treebanks and probing runs; part of bad_inputs.py."""

from __future__ import annotations

import io
import shutil
import tempfile
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np

from tests.cli.staging import BadInput, Prepare, both, cut, replace, run, write

WORDS, SENTENCES = ("the", "dog", "sees", "cats", "."), 20
_ROWS = "".join(
    f"{number}\t{word}\t_\t{tag}\t_\t_\t{head}\t_\t_\t_\n"
    for number, (word, tag, head) in enumerate(
        zip(WORDS, ("DET", "NOUN", "VERB", "NOUN", "PUNCT"), (2, 3, 0, 3, 3), strict=True), 1
    )
)
TREES = f"{_ROWS}\n" * SENTENCES
QUICK = "--set dim=4 --set epochs=2 --set validate_every=1 --threads 1"
PROBE = "probe vectors.npz --trees trees.conllu --out new"


def vectors(change: Callable[[np.ndarray], dict[str, np.ndarray]] = lambda array: {"all": array}) -> Prepare:
    """A treebank of twenty sentences, and a file of vectors for its words."""

    def prepare(folder: Path) -> None:
        (folder / "trees.conllu").write_text(TREES)
        array = np.random.default_rng(0).normal(size=(SENTENCES * len(WORDS), 2, 6)).astype("float32")
        with io.BytesIO() as content:
            np.savez(content, **change(array))
            (folder / "vectors.npz").write_bytes(content.getvalue())

    return prepare


@lru_cache(maxsize=1)
def _probed() -> Path:
    """A run, made once."""
    folder = Path(tempfile.mkdtemp())
    vectors()(folder)
    outcome = run(f"probe vectors.npz --trees trees.conllu --out probed {QUICK}", folder)
    assert outcome.code == 0, outcome.output
    return folder / "probed"


def probed(folder: Path) -> None:
    """A copy of the run as ``probed``."""
    shutil.copytree(_probed(), folder / "probed")


def _trees(content: str | bytes, problem: str, *expected: str) -> BadInput:
    return BadInput(problem, PROBE, expected, both(vectors(), write("trees.conllu", content)))


def _vectors(change: Callable[[np.ndarray], dict[str, np.ndarray]], problem: str, *expected: str) -> BadInput:
    return BadInput(problem, PROBE, expected, vectors(change))


MISTAKES = [
    BadInput("nothing to probe", "probe --out new", ("expected what to probe, got nothing", "hybonet probe ENCODER")),
    BadInput("an encoder that is not there", "probe absent --out new", ("'absent', which is not there", "Hugging")),
    BadInput("a run without an encoder", "probe run --out new", ("got a run of the task 'kg'", "train translation")),
    BadInput(
        "a folder that is no encoder", "probe empty --out new", ("expected an encoder in 'empty', got neither",),
        lambda folder: (folder / "empty").mkdir(),
    ),
    BadInput(
        "a treebank's name with a slip", "probe vectors.npz --trees UD_English-EVT --out new",
        ("neither a path nor a name", "did you mean 'UD_English-EWT'?"), vectors(),
    ),
    BadInput(
        "a treebank that is not here", "probe vectors.npz --trees UD_English-EWT --out new",
        ("files of UD_English-EWT", "hybonet data fetch UD_English-EWT"), vectors(),
    ),
    BadInput(
        "a treebank's folder without dev", "probe vectors.npz --trees bank --out new",
        ("bank: expected one .conllu file with valid or dev or val in its name", "got a-train.conllu"),
        both(vectors(), write("bank/a-train.conllu", TREES)),
    ),
    _trees("", "an empty treebank", "trees.conllu: expected at least one sentence, got none"),
    _trees(TREES.replace("\t", " "), "a treebank with spaces for tabs", "line 1: expected 10 columns", "got 1"),
    _trees(TREES + "1\tdog" + "\t_" * 8 + "\n", "a treebank without heads", "line 121", "got '_'", "run a parser"),
    _trees(TREES.replace("\t0\t", "\t2\t"), "a cycle for a tree", "lines 1 to 5", "(the root), got none"),
    _trees(TREES + _ROWS.replace("2\tdog", "3\tdog"), "a word left out", "line 122: expected word 2", "got '3'"),
    _trees(f"{_ROWS}\n" * 5, "too few sentences to split", "at least 10 sentences", "got 5", "train, dev and test"),
    _vectors(lambda a: {"all": a[:-1]}, "a vector too few", "expected 100 vectors", "got 99", "punctuation too"),
    _vectors(lambda a: {"alle": a}, "vectors under another name", "expected the arrays all", "got alle"),
    _vectors(lambda a: {"all": a.astype(int)}, "vectors of whole numbers", "expected floating-point numbers"),
    _vectors(lambda a: {"all": a + np.nan}, "vectors with NaN", "expected finite numbers in all", "at word 0"),
    _vectors(lambda a: {"all": a, "K": np.array(-1.0)}, "vectors that are no points", "off the hyperboloid", "leave K"),
    BadInput("a damaged file of vectors", PROBE, ("vectors.npz: expected an .npz of numbers and text",),
             both(vectors(), cut("vectors.npz"))),
    BadInput("no file of vectors", "probe absent.npz --out new", ("a file of vectors, got 'absent.npz'", "not there")),
    BadInput("layers that are no numbers", f"{PROBE} --layers first", ("separated by commas, got 'first'",), vectors()),
    BadInput("a layer too many", f"{PROBE} --layers 0,2", ("layers from 0 to 1 of vectors.npz, got 2",), vectors()),
    BadInput("an unknown probe", f"{PROBE} --set probe=poincar", ("setting probe", "'lorentz', 'poincare'"), vectors()),
    BadInput("another task's recipe for a probe", f"{PROBE} --recipe wn18rr-32",
             ("expected a recipe for train probe, but 'wn18rr-32' is one for train kg", "probe-tutorial"), vectors()),
    BadInput("random weights for vectors", f"{PROBE} --set control=random-weights",
             ("which have no weights", "shuffled-labels"), vectors()),
    BadInput("a new encoder for a run that goes on", "probe other --out probed --resume",
             ("expected no encoder with --resume, got 'other'",), probed),
    BadInput("a probing that goes on without its states", "probe --out probed --resume --set epochs=3",
             ("expected states.safetensors in the run 'probed' to go on with, found none",),
             both(probed, lambda folder: (folder / "probed/states.safetensors").unlink())),
    BadInput("a damaged treebank in a probing", "evaluate probed", ("test.conllu, line 2: expected 10 columns",),
             both(probed, replace("probed/test.conllu", "1\tthe", "1 the"))),
    BadInput("a layer that was not probed", "predict probed --layer 5", ("layers probed (0, 1), got 5",), probed),
    BadInput("a test sentence that is not there", "plot probed --sentence 3", ("from 1 to 2, got 3",), probed),
    BadInput("predicted trees under another ending", "predict probed --output trees.txt",
             ("expected --output to end in .json, .csv, .tsv or .conllu, got 'trees.txt'",), probed),
]  # fmt: skip
