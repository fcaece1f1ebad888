"""Dependency-tree probes: how much of syntax an encoder's states hold."""

from hybonet.tasks.base import TaskSpec, Verb
from hybonet.tasks.probing import options

_TRAIN = """
`hybonet probe ENCODER` is short for `hybonet train probe --data ENCODER …`.

`hybonet probe runs/translator --trees toy --recipe probe-tutorial --out runs/probe` probes every layer of a translator.

`hybonet probe runs/translator --trees UD_English-EWT --out runs/ewt` takes a published treebank.

`hybonet probe models/bert --trees my.conllu --layers 0,6,7,8 --out runs/bert` probes a Hugging Face model.

`hybonet probe vectors.npz --trees treebank/ --set probe=euclidean --out runs/mine` takes vectors of your own.

`hybonet probe runs/translator --trees toy --set control=random-weights --out runs/control` shows what comes for free.

`hybonet probe --out runs/probe --resume` goes on with a run that was stopped.
"""
_EVALUATE = """
`hybonet evaluate runs/probe` measures every layer on the test sentences again.
"""
_PREDICT = """
`hybonet predict runs/probe --output trees.conllu` writes the test sentences with predicted trees.

`hybonet predict runs/probe --layer 2` prints those of another layer.
"""
_PLOT = """
`hybonet plot runs/probe` draws the measures by layer, a sentence and the curves into the run's own folder.

`hybonet plot runs/probe --sentence 12 --layer 2 --output pictures` chooses the sentence.
"""
_EXPORT = """
`hybonet export runs/probe --output probe-model` writes the probes with the test sentences and their states, by which
they are measured; the states of train and valid, which are large, stay behind.
"""

SPEC = TaskSpec(
    name="probe",
    title="Probes",
    parts="hybonet.tasks.probing.parts",
    about="Train probes on the states of a frozen encoder that give back dependency trees: every layer, the best "
    "chosen.",
    examples=_TRAIN,
    options=options.DataOptions,
    data_help=options.ENCODER_HELP,
    data_key="probed",
    recipe="probe",
    auto=True,
    verbs={
        "evaluate": Verb(options.Evaluate, "Measure every layer of a probing on its test sentences.", _EVALUATE),
        "predict": Verb(
            options.Predict,
            "The test sentences with the trees that a probe reads off the states, as CoNLL-U.",
            _PREDICT,
            text_file=".conllu",
        ),
        "plot": Verb(
            options.Plot,
            "Draw the four measures by layer, a sentence (gold and predicted tree, words on the disk) and the curves.",
            _PLOT,
        ),
        "export": Verb(options.Export, "Write trained probes as a folder to hand on.", _EXPORT),
    },
)
