"""The translation experiments: every system on every corpus, for about the same time."""

from __future__ import annotations

from dataclasses import dataclass, field

from results.cells import Training


@dataclass(frozen=True)
class Cell:
    """One table: corpus, direction, recipe, and how many epochs of each system fit into the time.

    A system is a model, or a variant of one: what follows a hyphen is no part of the model's name.
    """

    heading: str
    corpus: str
    direction: str
    recipe: str
    epochs: dict[str, int]
    #: Systems that are trained with two seeds.
    twice: tuple[str, ...] = ()
    #: What a reader of the table should know.
    remark: str = ""
    #: What is changed in the recipe, for all systems and for one.
    changes: tuple[str, ...] = ()
    own: dict[str, tuple[str, ...]] = field(default_factory=dict)


#: What suits HyboNet and the Transformer, by the perplexity on validation pairs after one to four epochs; HAtt has the
#: Transformer's, the others' are not tuned.
OWN = {
    "hybonet": ("lr=0.012",),
    "euclidean": ("lr=0.006", "schedule.warmup=100"),
    "hatt": ("lr=0.006", "schedule.warmup=100"),
    "convolution": ("lr=0.004", "norm_first=false"),
    "poincare": ("lr=0.004", "norm_first=false"),
}
_AVERAGED = ("average=5", "average_of=last")
#: With 128 coordinates, and on IWSLT'14, the Transformer learns more with half of that rate, by the perplexity after
#: whole trainings.
_HALF = dict.fromkeys(("euclidean", "hatt"), ("lr=0.003", "schedule.warmup=100"))
#: The recipe drops what HyboNet's blocks add, as the Transformer does; other models have no such setting, and "plain"
#: is HyboNet without, as in the paper.
_NOTHING_DROPPED = ("residual_dropout=0",)
_WIDE_SHORT = {**_HALF, "hybonet": (*OWN["hybonet"], "residual_dropout=0.1")}
_WIDE_LONG = {
    **_HALF,
    "hybonet": (*OWN["hybonet"], "residual_dropout=0.2", *_AVERAGED),
    "euclidean": (*_HALF["euclidean"], *_AVERAGED),
}
_RATE = (
    "The rates of the Transformer and of HAtt are those found on Multi30k. Half of it suits the Transformer better "
    "here, as its second row shows: compare with that one. HAtt was not trained with half of it, which may suit it "
    "better, too."
)
CELLS = {
    "multi30k-64": Cell(
        "Multi30k, English to German, 64 coordinates, 3 layers: test2016 after a quarter of an hour",
        "multi30k",
        "en-de",
        "multi30k-64",
        {"hybonet": 9, "euclidean": 12, "hatt": 7, "convolution": 17, "poincare": 2},
        ("hybonet", "euclidean"),
    ),
    "multi30k-128": Cell(
        "Multi30k, English to German, 128 coordinates, 4 layers: test2016 after forty minutes",
        "multi30k",
        "en-de",
        "multi30k-128",
        changes=_NOTHING_DROPPED,
        epochs={"hybonet": 11, "hybonet-plain": 11, "euclidean": 14, "hatt": 7, "convolution": 18, "poincare": 4},
        twice=("hybonet", "euclidean"),
        own=_WIDE_SHORT,
    ),
    "multi30k-128-long": Cell(
        "Multi30k, English to German, 128 coordinates, 4 layers: test2016 after eighty minutes, with more dropout",
        "multi30k",
        "en-de",
        "multi30k-128",
        {"hybonet": 25, "hybonet-plain": 20, "euclidean": 32},
        remark="Eighty minutes on one core are forty on two. The dropout, of HyboNet the same where blocks join, and "
        "the mean of the last five epochs' weights were set once, and no others were tried. The row without dropout "
        "there is an earlier training: shorter, and without that mean.",
        changes=("dropout=0.2", *_NOTHING_DROPPED),
        own=_WIDE_LONG,
    ),
    "iwslt14-de-en-64": Cell(
        "IWSLT'14, German to English, 53,524 pairs (a third of the set), 64 coordinates, 3 layers: twenty minutes",
        "iwslt14",
        "de-en",
        "iwslt14-64",
        {"hybonet": 4, "euclidean": 5, "euclidean-half": 5, "hatt": 3, "convolution": 7, "poincare": 1},
        remark=_RATE,
        own={"euclidean-half": _HALF["euclidean"]},
    ),
    "iwslt14-en-de-64": Cell(
        "IWSLT'14, English to German, 53,524 pairs (a third of the set), 64 coordinates, 3 layers: half an hour",
        "iwslt14",
        "en-de",
        "iwslt14-64",
        {"hybonet": 6, "euclidean": 8, "euclidean-half": 8, "hatt": 4, "convolution": 10, "poincare": 1},
        remark=_RATE,
        own={"euclidean-half": _HALF["euclidean"]},
    ),
}
#: HyboNet's first steps in both precisions: do the losses agree?
PRECISIONS = ("float32", "bfloat16")
PRECISION_STEPS = 100
#: The Transformer once more, stopped at about the perplexity that HAtt reaches: does an encoder hold less of the syntax
#: because its translator has learnt less?
STOPPED_EARLY = ("iwslt14-en-de-64", "euclidean-short", 3)


def trainings() -> dict[str, Training]:
    """Every training by name."""
    found = {}

    def add(name: str, cell: str, changes: tuple[str, ...], about: str, seeds: int = 1, group: str = "") -> None:
        direction = ("--direction", CELLS[cell].direction)
        keep = ("validations",)
        data = CELLS[cell]
        found[name] = Training(
            "translation", group or cell, data.corpus, data.recipe, seeds, changes, about, direction, keep=keep
        )

    for name, cell in CELLS.items():
        for system, epochs in cell.epochs.items():
            model = system.partition("-")[0]
            changes = (f"model={model}", *cell.changes, *cell.own.get(system, OWN[model]), f"epochs={epochs}")
            about, seeds = cell.heading.rpartition(": ")[2], 2 if system in cell.twice else 1
            add(f"{name}-{system}", name, changes, about, seeds)
    for precision in PRECISIONS:
        changes = ("model=hybonet", *OWN["hybonet"], f"precision={precision}", f"steps={PRECISION_STEPS}")
        about = "two minutes; far longer in bfloat16 where the processor has none"
        add(f"precision-{precision}", "multi30k-64", changes, about, group="precision")
    name, system, epochs = STOPPED_EARLY
    changes = ("model=euclidean", *OWN["euclidean"], f"epochs={epochs}")
    add(f"{name}-{system}", name, changes, "a quarter of an hour")
    return found
