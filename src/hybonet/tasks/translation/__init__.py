"""Translation from text pairs."""

from hybonet.tasks.base import TaskSpec, Verb
from hybonet.tasks.translation import options

_TRAIN = """
The toy language inside the package, about a minute: `hybonet train translation --out runs/toy`

Two aligned files: `hybonet train translation --source talks.en --target talks.de --direction en-de --out runs/talks`

A table with a sentence, a tab and its translation a line: `hybonet train translation --data pairs.tsv --out runs/mine`

A folder with train.en, train.de, valid.en, valid.de, test.en, test.de:
`hybonet train translation --data talks --direction en-de --out runs/talks`

A corpus by name, other settings: `hybonet train translation --data multi30k --recipe multi30k-64 --set epochs=20
--out runs/multi30k`

Go on with a run that was stopped: `hybonet train translation --out runs/talks --resume`
"""
_EVALUATE = """
The best model of a run on its test sentences: `hybonet evaluate runs/toy`

On another split, all numbers for a program: `hybonet evaluate runs/multi30k --split test2017 --json`
"""
_PREDICT = """
`hybonet translate` is short for it.

From a pipe: `echo "The dog sees two birds." | hybonet translate runs/toy`

A file, into another: `hybonet translate runs/toy sentences.txt --output translations.txt`

The four best of each with their scores: `hybonet translate runs/toy sentences.txt --n-best 4 --format tsv`

Drawn at random: `hybonet translate runs/toy sentences.txt --temperature 0.8 --top-p 0.9 --seed 1`
"""
_PLOT = """
`hybonet plot runs/toy` draws the curves, and where the decoder looks while it translates the first test sentence.

`hybonet plot runs/toy --sentence "The dog sees two birds."` looks at this one.
"""
_EXPORT = """
`hybonet export runs/toy --output toy-model` writes what use needs, with a model card; the text stays behind.
"""

SPEC = TaskSpec(
    name="translation",
    title="Translation",
    parts="hybonet.tasks.translation.parts",
    about="Train a translation model, score its translations of the test sentences, and keep everything in one folder.",
    examples=_TRAIN,
    options=options.DataOptions,
    data="toy",
    data_help="A name (`hybonet data list`), a table of pairs (.tsv), or a folder with train, valid and test.",
    data_key="text",
    recipe="translation",
    auto=True,
    verbs={
        "evaluate": Verb(
            options.Evaluate,
            "Perplexity, sacreBLEU, chrF and the paper's BLEU of a run's translations, with signatures.",
            _EVALUATE,
        ),
        "predict": Verb(
            options.Predict,
            "Translate sentences, one a line; a line stays a line, and an empty one stays empty.",
            _PREDICT,
            text_file=".txt",
        ),
        "plot": Verb(
            options.Plot,
            "Draw the curves of a training, and where the decoder looks while it translates a sentence.",
            _PLOT,
        ),
        "export": Verb(options.Export, "Write a trained translation model as a folder to hand on.", _EXPORT),
    },
)
