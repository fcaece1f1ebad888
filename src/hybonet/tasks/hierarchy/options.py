"""What can be chosen when a hierarchy's model is asked."""

from __future__ import annotations

from hybonet.tasks.options import Options, option


class DataOptions(Options):
    """Embed a hierarchy in hyperbolic space and measure how well distances give it back.

    **Examples**

    `hybonet train hierarchy --data wordnet_mammals --out runs/mammals` takes under half a minute on one core.

    `hybonet train hierarchy --out runs/five-dimensions --set dim=6` takes five hyperbolic dimensions.

    `hybonet train hierarchy --data my_edges.csv --out runs/mine` takes your own hierarchy, one `child,parent` per line.

    `hybonet train hierarchy --out runs/mine --resume` goes on with a run that was stopped.
    """


class Predict(Options):
    """Likely ancestors of nodes: the nearest points that lie nearer to the origin.

    **Examples**

    `hybonet predict runs/mammals --node dog.n.01` says what its points tell of the ancestors of a node.
    """

    node: list[str] | None = option(None, "Name of a node. May be repeated.", shown="those with the most descendants")
    top: int = option(5, "How many likely ancestors of each.", ge=1)


class Evaluate(Options):
    """How well the distances of points give all ancestors back."""
