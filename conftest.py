"""What holds for all tests: one thread each, and no examples of a module whose optional package is absent."""

import os
from importlib.util import find_spec

# Tests run side by side; several threads in each only get in one another's way. Before torch is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

collect_ignore = [] if find_spec("pykeen") else ["src/hybonet/interop/pykeen.py"]
