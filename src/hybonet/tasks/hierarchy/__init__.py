"""Hierarchies embedded in the hyperbolic plane."""

from hybonet.tasks.base import TaskSpec
from hybonet.tasks.hierarchy import options

SPEC = TaskSpec(
    "hierarchy",
    "Hierarchies",
    "hybonet.tasks.hierarchy.parts",
    options=options.DataOptions,
    data="wordnet_mammals",
    data_help="A shipped hierarchy, or a .tsv or .csv file with one child and parent per line.",
    data_key="hierarchy",
    recipe="hierarchy",
    auto=True,
    verbs={"evaluate": options.Evaluate, "predict": options.Predict},
)
