"""Where and when a benchmark ran: what its record carries beside the figures."""

from __future__ import annotations

import platform
from datetime import datetime, timezone
from pathlib import Path

import torch

from hybonet import __version__
from hybonet.tasks.provenance import source_commit

#: What the benchmarks themselves write; it says nothing about the code that was measured.
OWN_OUTPUT = ("benchmarks/results", "docs/images")


def environment() -> dict[str, object]:
    """Date, commit, versions and machine, ready for JSON."""
    return {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "commit": source_commit(Path(__file__).resolve().parent.parent, except_for=OWN_OUTPUT),
        "hybonet": __version__,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "processor": processor(),
        "threads": torch.get_num_threads(),
    }


def processor() -> str:
    """The processor's name as the system states it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor())
