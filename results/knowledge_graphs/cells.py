"""Trainings and searches on knowledge graphs."""

from __future__ import annotations

from dataclasses import dataclass

from results.cells import Search, Training
from results.store import chosen

#: Every model that is compared, with a customary rate where none has been searched for; HyboNet has the recipes'.
MODELS = {
    "hybonet": None, "hybonet-tangent": 0.01, "TransE": 0.01, "DistMult": 0.01, "ComplEx": 0.01, "ConvE": 0.003,
    "RotatE": 0.01, "TuckER": 0.003, "MuRE": 0.01, "MuRP": 0.005, "RotH": 0.005, "AttH": 0.005,
}  # fmt: skip


@dataclass(frozen=True)
class Comparison:
    """One column of the table of models: data, recipe, the rates that are tried, how long models train."""

    data: str
    recipe: str
    seeds: int
    rates: tuple[float, ...]
    about: str
    #: How many epochs of each model, in order, fit into twenty minutes of one core; none: as many as the recipe has.
    epochs: tuple[int, ...] = ()


#: Trials of a rate are as much shorter than the training it is searched for.
SHORTER = 20
_FEW_RATES = (0.003, 0.01, 0.03)
_RATES = (0.003, 0.01, 0.02, 0.05, 0.1, 0.2)
COMPARISONS = {
    "twenty-wn18rr": Comparison(
        "WN18RR", "comparison", 1, _FEW_RATES, "twenty minutes on one core",
        (170, 150, 80, 220, 220, 130, 45, 150, 200, 45, 50, 55),
    ),
    "twenty-fb15k-237": Comparison(
        "FB15k-237", "comparison", 1, _FEW_RATES, "twenty minutes on one core",
        (55, 50, 32, 90, 90, 34, 14, 55, 90, 16, 16, 19),
    ),
    "umls": Comparison("UMLS", "default", 5, _RATES, "two minutes in all"),
    "nations": Comparison("Nations", "default", 5, _RATES, "a minute in all"),
}  # fmt: skip
#: One ingredient of the training changed at a time: in words, and as settings.
ABLATIONS = {
    "full": ("the recipe `default` as it is",),
    "riemannian": ("exact Riemannian Adam instead of Adam in the chart", "optimizer=riemannian"),
    "bce": (
        "binary cross-entropy, 50 random tails for each triple (the paper)",
        "loss=bce", "negative_sampling=per_triple", "negatives=50", "label_smoothing=0",
    ),
    "self-adversarial": (
        "self-adversarial loss, 50 random tails for each triple",
        "loss=self_adversarial", "negative_sampling=per_triple", "negatives=50", "label_smoothing=0",
    ),
    "own": ("softmax against 50 random tails for each triple", "negative_sampling=per_triple", "negatives=50"),
    "pool": ("softmax against a pool of 500 shared tails", "negative_sampling=shared", "negatives=500"),
    "bernoulli": ("readings of a relation weighed as in Bernoulli sampling", "bernoulli=true"),
    "filtered": ("other right answers of the training triples left out", "filter_negatives=true"),
    "no-smoothing": ("no label smoothing", "label_smoothing=0"),
    "no-dropout": ("no dropout", "dropout=0"),
    "l2": ("L2 penalty .001", "regularizer=l2", "regularization=0.001"),
    "n3": ("N3 penalty .001", "regularizer=n3", "regularization=0.001"),
    "curvature": ("learned curvature", "learn_curvature=true"),
    "no-max-norm": ("no max-norm", "max_norm=none"),
    "no-loop-bias": ("no loop bias", "loop_bias=false"),
    "constant-rate": ("constant learning rate", "schedule.kind=constant"),
    "sharpness": ("loss of sharpness .7, 1.5 for symmetric relations", "logit_scale=0.7", "symmetric_logit_scale=1.5"),
    "tied": ("symmetric relations one with their reciprocals", "tie_symmetric=true"),
    "tangent": ("relations' maps through the tangent space", "model=hybonet-tangent"),
    "both-readings": (
        "answers by both readings of a triple, shares as for WN18RR", "inverse_weight=0.4", "inverse_power=0.75",
    ),
}  # fmt: skip
#: The recipe wn18rr-32 cut to 15 epochs, questions answered by one reading, one thing changed at a time.
SHORT = {
    "recipe": ("the recipe `wn18rr-32`: .7, and 1.5 for symmetric relations",),
    "sharpness-0.7": ("sharpness .7 for all relations", "symmetric_logit_scale=none"),
    "sharpness-1": ("sharpness 1 for all relations", "logit_scale=1", "symmetric_logit_scale=none"),
    "sharpness-1.5": ("sharpness 1.5 for all relations", "logit_scale=1.5", "symmetric_logit_scale=none"),
    "untied": ("two maps for the two readings of symmetric relations", "tie_symmetric=false"),
    "wide-start": ("entities start at radius 1", "init_std=none"),
    "8000-candidates": ("8,000 candidates instead of 2,000", "negatives=8000"),
    "filtered": ("other right answers of the training triples left out", "filter_negatives=true"),
    "l2": ("L2 penalty .02", "regularizer=l2", "regularization=0.02"),
    "sparse": ("only the entities of a batch are moved", "sparse_updates=true"),
    "bce": (
        "binary cross-entropy, 50 random tails for each triple",
        "loss=bce", "negative_sampling=per_triple", "negatives=50", "label_smoothing=0",
    ),
    "riemannian": ("exact Riemannian Adam", "optimizer=riemannian"),
}  # fmt: skip
#: Those of the small graphs, in the order of their table.
SMALL = {
    "nations": ("Nations", 5, (), "a minute in all"),
    "nations-without-loop-bias": ("Nations", 5, ("loop_bias=false",), "a minute in all"),
    "umls": ("UMLS", 5, (), "two minutes in all"),
    "umls-without-loop-bias": ("UMLS", 5, ("loop_bias=false",), "two minutes in all"),
    "wordnet": ("wordnet", 3, (), "the graph inside the package; five minutes in all"),
}
#: Those beside the paper's figures: recipe, seeds, settings, time.
_QUARTER = "a quarter of an hour each on one core"
_RECIPES = {
    "wn18rr-32": ("WN18RR", 3, (), _QUARTER),
    "wn18rr-32-taught": ("WN18RR", 3, (), f"{_QUARTER}, after wn18rr-32"),
    "wn18rr-500": ("WN18RR", 1, chosen("wn18rr-500"), "twenty minutes on one core"),
    "wn18rr-500-long": ("WN18RR", 1, (*chosen("wn18rr-500"), "epochs=100", "validate_every=10"), "an hour on one core"),
    "fb15k237-32": ("FB15k-237", 3, (), _QUARTER),
    "paper-wn18rr-32": ("WN18RR", 1, ("minutes=180",), "up to three hours"),
    "paper-fb15k237-32": ("FB15k-237", 1, ("minutes=180",), "up to three hours"),
}


def trainings() -> dict[str, Training]:
    """Every training by name, with the rates that were found, if any."""
    found = {}
    for name, (data, seeds, changes, about) in _RECIPES.items():
        teachers = tuple(f"wn18rr-32-seed{seed}" for seed in range(3)) if name.endswith("-taught") else ()
        recipe = name.removesuffix("-long").replace("taught", "distilled")  # as it is called since these runs were made
        found[name] = Training(
            "kg", "recipes", data, recipe, seeds, changes, about, teachers=teachers, keep=("validations",)
        )
    for name, (data, seeds, changes, about) in SMALL.items():
        found[name] = Training("kg", "small", data, "default", seeds, changes, about)
    for name, cell in COMPARISONS.items():
        for model, rate in MODELS.items():
            own = f"{name}-{model.lower()}"
            usual = (f"lr={rate}",) if rate else ()
            changes = (f"model={model}", *(chosen(own) or usual), *_length(cell, model, 1))
            found[own] = Training("kg", name, cell.data, cell.recipe, cell.seeds, changes, cell.about)
    for name, (_, *changed) in SHORT.items():
        fixed = ("epochs=15", "validate_every=15", "inverse_weight=0", *changed)
        about, keep = "three minutes on one core", ("test.by_relation",)
        found[f"short-{name}"] = Training("kg", "short", "WN18RR", "wn18rr-32", 1, fixed, about, keep=keep)
    for name, (_, *changed) in ABLATIONS.items():
        found[f"ablation-{name}"] = Training(
            "kg", "ablation", "wordnet", changes=tuple(changed), about="a minute or two"
        )
    return found


def searches() -> dict[str, Search]:
    """The rates of all models, in shorter trainings where trainings are long, and that of the larger recipe."""
    found = {}
    for name, cell in COMPARISONS.items():
        for model in MODELS:
            fixed = (f"model={model}", *_length(cell, model, SHORTER))
            found[f"{name}-{model.lower()}"] = _rates(cell.data, cell.recipe, fixed, cell.rates)
    found["wn18rr-500"] = _rates("WN18RR", "wn18rr-500", ("epochs=3", "validate_every=3"), _FEW_RATES)
    return found


def _rates(data: str, recipe: str, fixed: tuple[str, ...], rates: tuple[float, ...]) -> Search:
    return Search("kg", data, recipe, fixed, (f"lr={','.join(map(str, rates))}",), len(rates), own_ranges=True)


def _length(cell: Comparison, model: str, shorter: int) -> tuple[str, ...]:
    if not cell.epochs:
        return ()
    epochs = max(2, round(cell.epochs[list(MODELS).index(model)] / shorter))
    return f"epochs={epochs}", f"validate_every={max(1, epochs // 10) if shorter == 1 else epochs}"
