"""Mentions known by name: what they hold, and where they lie."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from hybonet.data.io import search_path
from hybonet.data.io.source_file import SourceFile, read_checked

#: Data inside the package.
SHIPPED = "little-town"
_FOLDER = "little_town"
#: The crowd-sourced Open Entity data (Choi et al., 2018).
OPEN_ENTITY = "ufet"


@dataclass(frozen=True)
class MentionSet:
    """Published mentions, which lie in a folder of their name on the search path.

    Example:
        >>> MENTION_SETS["ufet"].statistics["types"]
        10331
    """

    name: str
    description: str
    licence: str
    #: Where the files come from, for people.
    source: str
    #: By file.
    sha256: Mapping[str, str]
    #: Types, and mentions of each split.
    statistics: Mapping[str, int]


MENTION_SETS = {
    OPEN_ENTITY: MentionSet(
        name=OPEN_ENTITY,
        description="crowd-sourced Open Entity data (Choi et al., 2018), types on three levels",
        licence="none stated; half of the sentences are licensed newswire",
        source="github.com/uwnlp/open_type",
        sha256={
            "train.json": "4b74c177886e4271da4b742b7907e7bed4ee069d4f7a6980628a19c401f7c777",
            "dev.json": "95d0d817ac80615747f8b57dc70005e42c5fd0e35a8268cbab1a8c56696bcc0a",
            "test.json": "76cc77039bef0c635ffe7f956b6bcc76d1d299c35a7ca9bce5c5a3b1ed0fc11f",
            "types.txt": "a65d4fc6615f0c041981fbbd5495c82a223d106e295ad727370edebe0cde7215",
        },
        statistics={"types": 10_331, "train": 1_998, "valid": 1_998, "test": 1_998},
    )
}


def mention_sets() -> tuple[str, ...]:
    """Names of all of them, the one inside the package first.

    Example:
        >>> mention_sets()
        ('little-town', 'ufet')
    """
    return SHIPPED, *MENTION_SETS


def find_mentions(name: str) -> Path:
    """The first folder on the search path that holds published mentions; a ``ValueError`` says how to get them."""
    entry = MENTION_SETS[name]
    folder = mentions_here(name)
    if folder is None:
        raise ValueError(
            f"expected {', '.join(entry.sha256)} of the crowd-sourced Open Entity data in a folder {name} "
            f"on {search_path.described()}, found them nowhere; "
            "half of its sentences are licensed newswire, so fetch them from the authors "
            f"({entry.source}) and name the folder's parent in HYBONET_DATA"
        )
    return folder


def read_published(name: str) -> dict[str, SourceFile]:
    """The files of published mentions, each checked against its checksum."""
    folder = find_mentions(name)
    return {file: read_checked(folder / file, sha256) for file, sha256 in MENTION_SETS[name].sha256.items()}


def mentions_here(name: str) -> Path | None:
    """The first folder on the search path that holds published mentions, or None.

    Example:
        >>> mentions_here("ufet") is None or mentions_here("ufet").is_dir()
        True
    """
    folders = (directory / name for directory in search_path.directories())
    return next((each for each in folders if all((each / file).is_file() for file in MENTION_SETS[name].sha256)), None)


def shipped_mentions() -> list[str]:
    """Where the files of ``little-town`` lie in the installed package.

    Example:
        >>> [Path(path).name for path in shipped_mentions()][-2:]
        ['valid.jsonl.xz', 'words.txt.xz']
    """
    folder = resources.files("hybonet.data").joinpath("shipped", _FOLDER)
    return sorted(str(place) for place in folder.iterdir())
