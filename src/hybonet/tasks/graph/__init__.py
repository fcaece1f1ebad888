"""Links and classes of graphs."""

from hybonet.tasks.base import TaskSpec
from hybonet.tasks.graph import options

SPEC = TaskSpec(
    "graph",
    "Links and classes of graphs",
    "hybonet.tasks.graph.parts",
    options=options.DataOptions,
    data="disease-small",
    data_help="A name (`hybonet data list`), or a file of edges.",
    data_key="graph",
    recipe="graph-lp",
    auto=True,
    verbs={"evaluate": options.Evaluate, "predict": options.Predict, "plot": options.Plot, "export": options.Export},
)
