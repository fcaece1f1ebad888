"""Knowledge graphs inside the package."""

from __future__ import annotations

import difflib
from importlib import resources
from typing import TYPE_CHECKING

from hybonet.data.io.source_file import SourceFile, unpack
from hybonet.data.triples.loading import build_triples
from hybonet.data.triples.triple_data import TripleData

if TYPE_CHECKING:
    from importlib.abc import Traversable  # importlib.resources.abc from Python 3.11 on

#: How WordNet's relations read between the names of head and tail.
_WORDNET_RELATIONS = {
    "also_see": "see also",
    "antonym": "is the opposite of",
    "attribute": "is a value of",
    "causes": "causes",
    "derivationally_related": "is related in form to",
    "domain_region": "belongs to the region",
    "domain_topic": "belongs to the topic",
    "entails": "entails",
    "hypernym": "is a kind of",
    "inherited_hypernym": "is more broadly a kind of",
    "instance_hypernym": "is an instance of",
    "member_of": "is a member of",
    "part_of": "is a part of",
    "pertains_to": "pertains to",
    "similar_to": "is similar to",
    "substance_of": "is a substance of",
    "verb_group": "is grouped with",
}
_RELATION_NAMES = {"wordnet": _WORDNET_RELATIONS}


def shipped_graphs() -> tuple[str, ...]:
    """Names of the graphs inside the package.

    Example:
        >>> shipped_graphs()
        ('wordnet',)
    """
    return tuple(_RELATION_NAMES)


def load_shipped(name: str = "wordnet") -> TripleData:
    """A graph of the package, in the fixed split it ships with.

    ``wordnet``: synsets of WordNet 3.0 that people know (``dog.n.01``, shown as dog), the relations between them, and
    ``inherited_hypernym`` to what lies two or three hypernyms above. No triple of valid or test is repeated in train.

    Example:
        >>> graph = load_shipped("wordnet")
        >>> dog = graph.entities.find("dog.n.01")
        >>> graph.entities.name(dog)
        'dog'
    """
    if name not in _RELATION_NAMES:
        near = difflib.get_close_matches(name, _RELATION_NAMES, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there is {', '.join(_RELATION_NAMES)}"
        raise ValueError(f"expected a shipped graph, got {name!r}; {hint}")
    return build_triples(
        {"train": _file(name, "train"), "valid": _file(name, "valid"), "test": _file(name, "test")},
        source=name,
        header=False,
        names=_file(name, "names"),
        relation_names=_RELATION_NAMES[name],
    )


def shipped_files(name: str) -> list[str]:
    """Where the files of a shipped graph lie in the installed package: train, valid, test and names.

    Example:
        >>> from pathlib import PurePath
        >>> [PurePath(path).name for path in shipped_files("wordnet")][:2]
        ['wordnet_graph_train.tsv.xz', 'wordnet_graph_valid.tsv.xz']
    """
    return [str(_place(name, part)) for part in ("train", "valid", "test", "names")]


def _file(name: str, part: str) -> SourceFile:
    place = _place(name, part)
    return unpack(place.name, place.read_bytes())


def _place(name: str, part: str) -> Traversable:
    return resources.files("hybonet.data").joinpath("shipped", f"{name}_graph_{part}.tsv.xz")
