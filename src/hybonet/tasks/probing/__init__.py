"""Dependency-tree probes: how much of syntax an encoder's states hold."""

from hybonet.tasks.base import TaskSpec
from hybonet.tasks.probing import options

SPEC = TaskSpec(
    "probe",
    "Probes",
    "hybonet.tasks.probing.parts",
    options=options.DataOptions,
    data_help=options.ENCODER_HELP,
    data_key="probed",
    recipe="probe",
    auto=True,
    verbs={"evaluate": options.Evaluate, "predict": options.Predict, "plot": options.Plot, "export": options.Export},
)
