"""What is tried, and how often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from reliability.damage import Damage
from reliability.fuzz import Fuzz
from reliability.kills import FullDisks, Kills, Processes, Together
from reliability.soak import Soak


@dataclass(frozen=True)
class Trial:
    """A kind of fault.

    Attributes:
        name: of the command's ``--only``.
        title: of its row.
        parts: how many at most, numbered; each is the same whenever it is run.
        prepare: gives, for a folder to work in, what does the part of a number and counts its outcomes.
        what: is counted.
    """

    name: str
    title: str
    parts: int
    prepare: Callable[[Path], Callable[[int], Counter[str]]]
    what: str


TRIALS = (
    Trial("kills", "Training killed, then finished", 225, Kills, "kills in 225 trainings"),
    Trial("full-disks", "Disk full at a write, then room again", 900, FullDisks, "writes"),
    Trial("processes", "One of two processes killed or stopped", 60, Processes, "trainings of two processes"),
    Trial("together", "Two processes started in one folder", 50, Together, "pairs"),
    Trial("damage", "Bits flipped, ends cut off", 120, Damage, "files, about a hundred times each file of a run"),
    Trial("fuzz", "Made-up files for every reader", 240, Fuzz, "files"),
    Trial("soak", "Long training of the Transformer", 10, Soak, "steps"),
)
