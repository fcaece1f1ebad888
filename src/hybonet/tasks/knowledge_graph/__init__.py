"""Knowledge graphs: missing triples."""

from hybonet.tasks.base import TaskSpec, Verb
from hybonet.tasks.knowledge_graph import options

_TRAIN = """
The graph inside the package, a few minutes: `hybonet train kg --data wordnet --out runs/wordnet`

Triples of your own: `hybonet train kg --data facts.csv --columns subject,predicate,object --out runs/mine`

Other settings (`hybonet recipes show default` explains them all):
`hybonet train kg --data facts.tsv --set dim=64 --set epochs=100 --out runs/big`

Learn from runs that are there, to be better at the same size: `hybonet train kg --data facts.tsv --teacher runs/a
--teacher runs/b --out runs/student`

The paper's training: `hybonet train kg --data WN18RR --recipe paper-wn18rr-32 --out runs/wn18rr`

Go on with a run that was stopped: `hybonet train kg --out runs/mine --resume`

Give a run more epochs: `hybonet train kg --out runs/mine --resume --set epochs=80`
"""
_EVALUATE = """
The best model of a run on its test triples: `hybonet evaluate runs/wordnet`

On the validation triples, all numbers for a program: `hybonet evaluate runs/wordnet --split valid --json`

Ranked as the paper's code does: `hybonet evaluate runs/wordnet --protocol paper_code`

In both directions, is it better? `hybonet evaluate runs/wordnet --split valid --inverse-weight 0.4`
"""
_PREDICT = """
What is a dog? `hybonet predict runs/wordnet --head dog.n.01 --relation hypernym`

Which parts of a car does the training data not name? `hybonet predict runs/wordnet --relation part_of --tail car.n.01
--new`

How are dog and animal related? `hybonet predict runs/wordnet --head dog.n.01 --tail animal.n.01`

How likely is a triple? `hybonet predict runs/wordnet --head dog.n.01 --relation hypernym --tail animal.n.01`

A file of questions, whose first line names the columns (`head,relation`): `hybonet predict runs/wordnet --questions
questions.csv --output answers.tsv`
"""
_PLOT = """
`hybonet plot runs/wordnet` draws everything into the run's own folder.

`hybonet plot runs/wordnet --hierarchy hypernym --hierarchy instance_hypernym` takes two relations for the hierarchy.

`hybonet plot runs/mine --output pictures` draws elsewhere.
"""
_EXPORT = """
`hybonet export runs/wordnet --to pretrained --output wordnet-model` writes what use needs, with a model card.

`hybonet export runs/wordnet --to vectors --output vectors.tsv` writes label, name and Lorentz coordinates.

`hybonet export runs/wordnet --to vectors --chart poincare --output vectors.parquet`

`hybonet export runs/wordnet --to pykeen --output for-pykeen` needs PyKEEN (`pip install hybonet[pykeen]`).
"""

SPEC = TaskSpec(
    name="kg",
    title="Knowledge graphs",
    parts="hybonet.tasks.knowledge_graph.parts",
    about="Train a knowledge-graph model, measure it on the test triples, and keep everything in one folder.",
    examples=_TRAIN,
    options=options.DataOptions,
    data="wordnet",
    auto=True,
    data_help="A name (`hybonet data list`), a file of triples, or a folder with train/valid/test.",
    data_key="graph",
    verbs={
        "evaluate": Verb(
            options.Evaluate,
            "Filtered ranking metrics of a run: overall, by direction, by relation and by kind of relation.",
            _EVALUATE,
        ),
        "predict": Verb(
            options.Predict,
            "Ask a trained model: give two of head, relation and tail, and it ranks what the third may be.\n\n"
            "Give all three, and it says how likely they are: the ranks of tail and head among all entities, and a "
            "probability.",
            _PREDICT,
        ),
        "plot": Verb(
            options.Plot,
            "Draw the Poincaré disk (PNG, and an HTML page to search and move in), the points, curves and metrics.",
            _PLOT,
        ),
        "export": Verb(options.Export, "Write a trained knowledge-graph model for other tools.", _EXPORT),
    },
)
