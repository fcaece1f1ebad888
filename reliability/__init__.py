"""Injects faults and counts what is lost or wrong: ``python -m reliability`` (``--quick``: a tenth).

Trainings are killed, run out of disk, lose a process or meet another in their folder; files are damaged and made up.
Each trial runs in a child that is forked from a process which has imported and prepared everything. What was done is
stored after every minute in ``docs/reliability.json``, so that the command goes on where it was stopped; the table of
``docs/reliability.md`` is made from it.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # a fork keeps no threads
