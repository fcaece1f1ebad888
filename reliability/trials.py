"""What is tried, and how often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from reliability import fuzz, soak
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
        parts: how many, numbered; each is the same whenever it is run.
        prepare: gives, for a folder to work in, what does the part of a number and counts its outcomes.
        what: is said of the parts in the table.
        size: cases in a part.
    """

    name: str
    title: str
    parts: int
    prepare: Callable[[Path], Callable[[int], Counter[str]]]
    what: str
    size: int = 1


TRIALS = (
    Trial("kills", "Training killed", 225, Kills, "trainings, each killed once or twice and finished"),
    Trial("full-disks", "Disk full at a write", 360, FullDisks, "trainings"),
    Trial("processes", "One of two processes killed or stopped", 30, Processes, "trainings of two processes"),
    Trial("together", "Two processes started in one folder", 50, Together, "pairs"),
    Trial("damage", "Bits flipped, ends cut off", 80, Damage, "files, a hundred times each"),
    Trial("fuzz", "Made-up files for every reader", 210, Fuzz, "files", fuzz.CHUNK),
    Trial("soak", "Long training of the Transformer", 10, Soak, "steps", soak.CHUNK),
)
