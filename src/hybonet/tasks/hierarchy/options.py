"""What can be chosen when a hierarchy's model is asked."""

from __future__ import annotations

from hybonet.tasks.options import Options, option


class Predict(Options):
    """Whose ancestors are asked for, or whose nearest neighbours."""

    node: list[str] | None = option(None, "Name of a node. May be repeated.", shown="those with the most descendants")
    top: int = option(5, "How many likely ancestors of each.", ge=1)


class Evaluate(Options):
    """Everything is measured: nothing is held out."""
