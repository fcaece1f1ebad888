"""Links and classes of graphs."""

from hybonet.tasks.base import TaskSpec, Verb
from hybonet.tasks.graph import options

_TRAIN = """
Missing links of the small tree that is generated on the spot: `hybonet train graph --out runs/links`

Classes of its nodes: `hybonet train graph --task nc --out runs/classes`

A graph of your own: `hybonet train graph --data edges.csv --features nodes.csv --labels classes.csv --task nc
--out runs/mine`

The paper's training: `hybonet train graph --data airport --recipe paper-airport-nc --out runs/airport`

Another model, other settings (`hybonet recipes show graph-lp` explains them all):
`hybonet train graph --data cora --set model=GCN --set dim=32 --out runs/gcn`

A million nodes: `hybonet train graph --data edges.parquet --recipe graph-large-lp --out runs/large`

Go on with a run that was stopped: `hybonet train graph --out runs/mine --resume`
"""
_EVALUATE = """
`hybonet evaluate runs/links` measures the best model on the validation and the test part.

`hybonet evaluate runs/classes --split valid` measures one part.

`hybonet evaluate runs/links --split test --json` gives all figures to a program.
"""
_PREDICT = """
The most probable links that the graph lacks: `hybonet predict runs/links --top 20`

Of one node: `hybonet predict runs/links --node ann`; only new ones: `hybonet predict runs/links --node ann --new`

The classes of two nodes: `hybonet predict runs/classes --node ann --node bob`

Of all nodes, into a file: `hybonet predict runs/classes --output classes.csv`
"""
_PLOT = """
`hybonet plot runs/classes` draws the Poincaré disk with the nodes coloured by class, and the curves.
"""
_EXPORT = """
`hybonet export runs/links --to pretrained --output model` writes what use needs, with a model card.

`hybonet export runs/links --to vectors --chart poincare --output nodes.csv` writes every node's coordinates.
"""

SPEC = TaskSpec(
    name="graph",
    title="Links and classes of graphs",
    parts="hybonet.tasks.graph.parts",
    about="Learn the missing links of a graph, or the classes of its nodes, and keep everything in one folder.",
    examples=_TRAIN,
    options=options.DataOptions,
    data="disease-small",
    data_help="A name (`hybonet data list`), or a file of edges.",
    data_key="graph",
    recipe="graph-lp",
    auto=True,
    verbs={
        "evaluate": Verb(
            options.Evaluate,
            "Measure links (ROC AUC, average precision) or classes (F1, accuracy) on held-out parts of the graph.",
            _EVALUATE,
        ),
        "predict": Verb(
            options.Predict,
            "Missing links with their probabilities, of the graph or of a node; or classes of nodes with theirs.",
            _PREDICT,
        ),
        "plot": Verb(
            options.Options,
            "Draw the nodes on the Poincaré disk, coloured by class where classes are known, and the curves.",
            _PLOT,
        ),
        "export": Verb(options.ExportOptions, "Write a trained graph model, or the coordinates of its nodes.", _EXPORT),
    },
)
