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
    """Whose trees are to be found, and in which layers."""

    trees: Any = option(
        None,
        "A treebank: `toy`, `UD_English-EWT`, a folder with .conllu files for train, dev and test, or one .conllu "
        "file.",
        shown="toy",
    )
    layers: str | None = option(None, "Layers to probe, e.g. 0,3,6; 0 is the embedding.", shown="all")


class Evaluate(Options):
    """Every layer is measured on the test sentences."""


class Predict(Options):
    """By which layer."""

    layer: int | None = option(None, _LAYER, shown=_BEST)


class Plot(PlotOptions):
    """Which sentence is drawn, and by which layer."""

    sentence: int | None = option(None, "Number of a test sentence, from 1.", shown="a typical one")
    layer: int | None = option(None, _LAYER, shown=_BEST)


class Export(Options):
    """What is written."""

    to: Literal["pretrained"] = option(
        "pretrained", "A folder for `hybonet.load`: the probes, the test sentences and their states, and a model card."
    )
