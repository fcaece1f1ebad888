"""Knowledge graphs: missing triples."""

from hybonet.tasks.base import TaskSpec
from hybonet.tasks.knowledge_graph import options

SPEC = TaskSpec(
    "kg",
    "Knowledge graphs",
    "hybonet.tasks.knowledge_graph.parts",
    options=options.DataOptions,
    data="wordnet",
    auto=True,
    data_help="A name (`hybonet data list`), a file of triples, or a folder with train/valid/test.",
    data_key="graph",
    verbs={"evaluate": options.Evaluate, "predict": options.Predict, "plot": options.Plot, "export": options.Export},
)
