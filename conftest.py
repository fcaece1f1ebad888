"""What holds for all tests: one thread each, and no examples of a module whose optional package is absent."""

import os
from importlib.util import find_spec

# Tests run side by side; several threads in each only get in one another's way. Before torch is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

_NEEDS = {
    "numba": [
        f"src/hybonet/kernels/{name}.py"
        for name in ("counts", "grouped_linear", "per_triple_scores", "parallel", "row_updates")
    ],
    "pykeen": ["src/hybonet/interop/pykeen.py"],
    "optuna": ["src/hybonet/tuning/study.py", "docs/tuning.md"],
    "torch_geometric": [
        *(f"src/hybonet/nn/{name}.py" for name in ("message_passing", "graph_conv", "graph_attention")),
        "src/hybonet/interop/pyg.py",
        "docs/graphs.md",
    ],
}
collect_ignore = [path for package, paths in _NEEDS.items() if not find_spec(package) for path in paths]
