"""Entity typing: types of mentions in sentences."""

from hybonet.tasks.base import TaskSpec
from hybonet.tasks.typing import options

SPEC = TaskSpec(
    "typing",
    "Entity typing",
    "hybonet.tasks.typing.parts",
    options=options.DataOptions,
    data="little-town",
    data_help="little-town (inside the package), ufet (from HYBONET_DATA), a folder with train, valid and test .json "
    "or .jsonl files, or one such file.",
    recipe="typing",
    auto=True,
    verbs={"evaluate": options.Evaluate, "predict": options.Predict, "plot": options.Plot, "export": options.Export},
)
