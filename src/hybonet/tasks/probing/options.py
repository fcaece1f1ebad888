"""What can be chosen when an encoder is probed, and probes are asked, drawn and written."""

from __future__ import annotations

from typing import Any, Literal

from hybonet.tasks.options import Options, PlotOptions, option

ENCODER_HELP = (
    "A run of `hybonet train translation`, a Hugging Face model folder, or a .safetensors or .npz file of vectors."
)
_LAYER = "A layer that was probed."
_BEST = "the best on validation"


class DataOptions(Options):
    """Train probes on the states of a frozen encoder that give back dependency trees: every layer, the best chosen.

    **Examples**

    `hybonet probe ENCODER` is short for `hybonet train probe --data ENCODER …`.

    `hybonet probe runs/translator --trees toy --recipe probe-tutorial --out runs/probe` probes every layer of a
    translator.

    `hybonet probe runs/translator --trees UD_English-EWT --out runs/ewt` takes a published treebank.

    `hybonet probe models/bert --trees my.conllu --layers 0,6,7,8 --out runs/bert` probes a Hugging Face model.

    `hybonet probe vectors.npz --trees treebank/ --set probe=euclidean --out runs/mine` takes vectors of your own.

    `hybonet probe runs/translator --trees toy --set control=random-weights --out runs/control` shows what comes for
    free.

    `hybonet probe --out runs/probe --resume` goes on with a run that was stopped.
    """

    trees: Any = option(
        None,
        "A treebank: `toy`, `UD_English-EWT`, a folder with .conllu files for train, dev and test, or one .conllu "
        "file.",
        shown="toy",
    )
    layers: str | None = option(None, "Layers to probe, e.g. 0,3,6; 0 is the embedding.", shown="all")


class Evaluate(Options):
    """Measure every layer of a probing on its test sentences.

    **Examples**

    `hybonet evaluate runs/probe` measures every layer on the test sentences again.
    """


class Predict(Options):
    """The test sentences with the trees that a probe reads off the states, as CoNLL-U.

    **Examples**

    `hybonet predict runs/probe --output trees.conllu` writes the test sentences with predicted trees.

    `hybonet predict runs/probe --layer 2` prints those of another layer.
    """

    text_file = ".conllu"

    layer: int | None = option(None, _LAYER, shown=_BEST)


class Plot(PlotOptions):
    """Draw the four measures by layer, a sentence (gold and predicted tree, words on the disk) and the curves.

    **Examples**

    `hybonet plot runs/probe` draws the measures by layer, a sentence and the curves into the run's own folder.

    `hybonet plot runs/probe --sentence 12 --layer 2 --output pictures` chooses the sentence.
    """

    sentence: int | None = option(None, "Number of a test sentence, from 1.", shown="a typical one")
    layer: int | None = option(None, _LAYER, shown=_BEST)


class Export(Options):
    """Write trained probes as a folder to hand on.

    **Examples**

    `hybonet export runs/probe --output probe-model` writes the probes with the test sentences and their states, by
    which they are measured; the states of train and valid, which are large, stay behind.
    """

    to: Literal["pretrained"] = option(
        "pretrained", "A folder for `hybonet.load`: the probes, the test sentences and their states, and a model card."
    )
