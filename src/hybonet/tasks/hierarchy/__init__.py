"""Hierarchies embedded in the hyperbolic plane."""

from hybonet.tasks.base import TaskSpec, Verb
from hybonet.tasks.hierarchy import options

_TRAIN = """
`hybonet train hierarchy --data wordnet_mammals --out runs/mammals` takes under half a minute on one core.

`hybonet train hierarchy --out runs/five-dimensions --set dim=6` takes five hyperbolic dimensions.

`hybonet train hierarchy --data my_edges.csv --out runs/mine` takes your own hierarchy, one `child,parent` a line.

`hybonet train hierarchy --out runs/mine --resume` goes on with a run that was stopped.
"""
_PREDICT = """
`hybonet predict runs/mammals --node dog.n.01` says what its points tell of the ancestors of a node.
"""
_PLOT = """
`hybonet plot runs/mammals` draws a run of `hybonet train hierarchy`.
"""

SPEC = TaskSpec(
    name="hierarchy",
    title="Hierarchies",
    parts="hybonet.tasks.hierarchy.parts",
    about="Embed a hierarchy in hyperbolic space and measure how well distances give it back.",
    examples=_TRAIN,
    data="wordnet_mammals",
    data_help="A shipped hierarchy, or a .tsv or .csv file with one child and parent a line.",
    data_key="hierarchy",
    recipe="hierarchy",
    auto=True,
    verbs={
        "evaluate": Verb(options.Evaluate, "How well the distances of points give all ancestors back."),
        "predict": Verb(
            options.Predict, "Likely ancestors of nodes: the nearest points that lie nearer to the origin.", _PREDICT
        ),
    },
)
