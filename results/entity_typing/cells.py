"""Trainings and searches of entity typing."""

from __future__ import annotations

from results.cells import Search, Training
from results.store import chosen

MODELS = ("hybonet", "hybonet-tangent", "MultiTask", "LabelGCN", "HY")
#: At one length for all.
EPOCHS = 12
TRIALS = 6
#: What is searched for every system; for the others also how long word vectors are, which a scale inside HyboNet makes
#: up for.
_RANGES = (
    "lr=0.001:0.02:log",
    "positive_weight=1:8:log",
    "word_dropout=0:0.4",
    "merge_dropout=0:0.5",
    "dropout=0:0.4",
)
_LENGTHS = {"hybonet": (), "hybonet-tangent": ("word_radius=4:24:log",)}
#: Its maps shrink what they are given: from words near the origin it hardly learns in the time.
_OWN = {"hybonet-tangent": ("word_radius=12", "positive_weight=6")}


def trainings() -> dict[str, Training]:
    """All systems with what was found for them, the paper's settings, and the data inside the package."""
    found = {}
    for model in MODELS:
        name = f"typing-{model.lower()}"
        changes = (f"model={model}", f"epochs={EPOCHS}", *chosen(name))
        found[name] = Training("typing", "ufet", "ufet", "typing", 5, changes, "a minute or two each on one core")
    found["typing-paper-settings"] = Training("typing", "ufet", "ufet", "paper-typing", about="a quarter of an hour")
    found["typing-little-town"] = Training(
        "typing", "little-town", "little-town", "typing-tutorial", 3, about="the mentions inside the package; a minute"
    )
    return found


def searches() -> dict[str, Search]:
    """The same number of trials for every system."""
    found = {}
    for model in MODELS:
        same = ("dim=64", "batch_size=50", "attention_dropout=0.2")
        fixed = (f"model={model}", f"epochs={EPOCHS}", *same, *_OWN.get(model, ()))
        ranges = (*_RANGES, *_LENGTHS.get(model, ("word_radius=0.5:8:log",)))
        found[f"typing-{model.lower()}"] = Search("typing", "ufet", "typing", fixed, ranges, TRIALS)
    return found
