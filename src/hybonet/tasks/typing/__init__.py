"""Entity typing: types of mentions in sentences."""

from hybonet.tasks.base import TaskSpec, Verb
from hybonet.tasks.typing import options

_TRAIN = """
The invented town inside the package, under two minutes: `hybonet train typing --out runs/town`

Mentions of your own with GloVe: `hybonet train typing --data mine --types types.tsv --words glove.6B.100d.txt --out
runs/mine`

The crowd-sourced Open Entity data (see docs/entity-typing.md): `hybonet train typing --data ufet --recipe typing --out
runs/ufet`

Go on with a run that was stopped: `hybonet train typing --out runs/mine --resume`
"""
_EVALUATE = """
The best model of a run on its test mentions: `hybonet evaluate runs/town`

With the threshold chosen on the validation mentions: `hybonet evaluate runs/town --calibrate`
"""
_PREDICT = """
`hybonet predict runs/town --sentence "The [baker] sold bread."`

`hybonet predict runs/town --sentence "The baker sold bread." --mention baker --top 5`

A file of mentions, as for training (types are not needed): `hybonet predict runs/town --mentions mine.jsonl --output
answers.tsv`
"""
_PLOT = """
`hybonet plot runs/town` draws the types on the Poincaré disk, their distance from the centre by level, and the curves.
"""
_EXPORT = """
`hybonet export runs/town --to pretrained --output town-model` writes what use needs, with a model card.

`hybonet export runs/town --to vectors --output types.tsv` writes types, levels and Lorentz coordinates.
"""

SPEC = TaskSpec(
    name="typing",
    title="Entity typing",
    parts="hybonet.tasks.typing.parts",
    about="Train a model that tells the types of mentions in sentences, measure it, and keep everything in one folder.",
    examples=_TRAIN,
    options=options.DataOptions,
    data="little-town",
    data_help="little-town (inside the package), ufet (from HYBONET_DATA), a folder with train, valid and test .json "
    "or .jsonl files, or one such file.",
    recipe="typing",
    auto=True,
    verbs={
        "evaluate": Verb(
            options.Evaluate,
            "Macro precision, recall and F1 of entity typing: all types together, and by level.",
            _EVALUATE,
        ),
        "predict": Verb(options.Predict, "Types of a mention in a sentence, likeliest first.", _PREDICT),
        "plot": Verb(
            options.Options,
            "Draw the types on the Poincaré disk, how far from the centre each level lies, and the curves.",
            _PLOT,
        ),
        "export": Verb(options.Export, "Write a trained typing model in a format that other tools read.", _EXPORT),
    },
)
