"""What people get wrong about graphs, and what they are told; part of bad_inputs.py."""

from __future__ import annotations

from tests.cli.staging import BadInput, cut, replace, tensors, write

#: A ring of 40 nodes with a chord from every other, and a class for each node.
EDGES = "source,target\n" + "".join(f"p{i},p{(i + 1) % 40}\n" + f"p{i},p{(i + 7) % 40}\n" * (i % 2) for i in range(40))
FEATURES = "node,age\n" + "".join(f"p{i},{20 + i}\n" for i in range(40))
LABELS = "node,team\n" + "".join(f"p{i},{'red' if i < 20 else 'blue'}\n" for i in range(40))
TRAIN = "train graph --data edges.csv --out new"
NODES = f"{TRAIN} --features features.csv --labels labels.csv"


def _set(assignment: str, problem: str, *expected: str) -> BadInput:
    return BadInput(problem, f"{TRAIN} --set {assignment}", expected)


GRAPHS = [
    BadInput("a graph with a slip", "train graph --data coro --out new", ("did you mean 'cora'?",)),
    BadInput(
        "a graph that is not here", "train graph --data cora --out new", ("files of cora", "hybonet data fetch cora")
    ),
    BadInput("an edge to nowhere", TRAIN, ("edges.csv, line 3", "got an empty"), write("edges.csv", "a,b\nb,c\nc,\n")),
    BadInput(
        "an edge to a node without features",
        NODES,
        ("line 62: expected a node of features.csv, got 'p99'", "nothing was loaded"),
        write("edges.csv", EDGES + "p1,p99\n"),
    ),
    BadInput(
        "a node without a label",
        f"{NODES} --task nc",
        ("labels.csv: expected a label for every node of features.csv, got none for 1: 'p39'",),
        write("labels.csv", LABELS.removesuffix("p39,blue\n")),
    ),
    BadInput(
        "classes without labels", f"{TRAIN} --task nc", ("edges.csv: expected labels to learn classes from, got none",)
    ),
    BadInput(
        "features that are not there",
        f"{TRAIN} --set inputs=features",
        ("edges.csv: expected features with inputs=features, got none", "--features FILE"),
    ),
    BadInput(
        "too few edges to hold out",
        "train graph --data few.csv --out new",
        ("few.csv: expected edges to train on", "too small for the split"),
        write("few.csv", "ann,bob\nbob,cat\ncat,dan\n"),
    ),
    BadInput("files beside a named graph", "train graph --features features.csv --out new", ("no options", "features")),
    BadInput("an unknown task", f"{TRAIN} --task links", ("Invalid value for '--task'", "'lp', 'nc'")),
    BadInput(
        "a recipe of the other task",
        f"{TRAIN} --task lp --recipe graph-nc",
        ("expected a recipe for --task lp, but 'graph-nc' is one for --task nc; leave --task out",),
    ),
    BadInput("two tasks", f"{TRAIN} --task lp --set task=nc", ("expected one task, got --task lp and --set task=nc",)),
    BadInput(
        "a knowledge graph's recipe", f"{TRAIN} --recipe default", ("expected a recipe for train graph, but 'default'",)
    ),
    _set("model=hybnet", "a slip in a model's name", "setting model: expected 'hybonet'", "did you mean 'hybonet'"),
    _set("heads=2", "heads without attention", "expected a setting that model=hybonet has, got 'heads'"),
    _set("batch_size=0", "an empty batch", "setting batch_size: expected greater than or equal to 1"),
    BadInput("a node with a slip", "predict net --node p1x", ("expected one of 40 nodes, got 'p1x'; did you mean",)),
    BadInput("new classes", "predict teams --new", ("expected --new with links only",)),
    BadInput("answers about nodes with an unknown ending", "predict net --output a.txt", (".json, .csv or .tsv",)),
    BadInput(
        "a chart for a folder", "export net --to pretrained --chart klein --output m", ("--chart with vectors only",)
    ),
    BadInput(
        "a graph model cut off",
        "evaluate net",
        ("net/model.safetensors: expected a safetensors file, got a damaged one",),
        cut("net/model.safetensors"),
    ),
    BadInput(
        "a graph without edges",
        "evaluate net",
        ("net/graph.safetensors: expected edges, found none",),
        tensors("net/graph.safetensors", lambda graph: graph.pop("edges")),
    ),
    BadInput(
        "a node's name twice",
        "predict net --node p1",
        ("net/nodes.tsv", "got 'p1' twice"),
        replace("net/nodes.tsv", "\np2\t", "\np1\t"),
    ),
    BadInput(
        "other data for a graph's run",
        "train graph --out net --resume --data edges.csv",
        ("with --resume, got --data", "start a new one"),
    ),
]
