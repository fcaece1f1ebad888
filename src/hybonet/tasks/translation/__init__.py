"""Translation from text pairs."""

from hybonet.tasks.base import TaskSpec
from hybonet.tasks.translation import options

SPEC = TaskSpec(
    "translation",
    "Translation",
    "hybonet.tasks.translation.parts",
    options=options.DataOptions,
    data="toy",
    data_help="A name (`hybonet data list`), a table of pairs (.tsv), or a folder with train, valid and test.",
    data_key="text",
    recipe="translation",
    auto=True,
    verbs={"evaluate": options.Evaluate, "predict": options.Predict, "plot": options.Plot, "export": options.Export},
)
