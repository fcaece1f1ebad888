"""The names that ``hybonet data`` knows, of all kinds of data together."""

from __future__ import annotations

import difflib


def known_data() -> dict[str, str]:
    """Every name by its spelling in small letters: knowledge graphs, networks, corpora, treebanks and mentions.

    Example:
        >>> known_data()["ud_english-ewt"], known_data()["ufet"]
        ('UD_English-EWT', 'ufet')
    """
    from hybonet.data.graphs.benchmarks import NETWORKS
    from hybonet.data.mentions.named_sets import mention_sets
    from hybonet.data.text.corpora import corpus_names
    from hybonet.data.trees.treebanks import TREEBANKS
    from hybonet.data.triples.benchmarks import BENCHMARKS
    from hybonet.data.triples.shipped import shipped_graphs

    names = (*shipped_graphs(), *BENCHMARKS, *NETWORKS, *corpus_names(), *TREEBANKS, *mention_sets())
    return {name.casefold(): name for name in names}


def near_data(name: str) -> str:
    """What to say after an unknown name.

    Example:
        >>> near_data("ufte")
        "did you mean 'ufet'?"
    """
    names = known_data()
    near = difflib.get_close_matches(name.casefold(), names, n=1)
    return f"did you mean {names[near[0]]!r}?" if near else f"names are {', '.join(names.values())}"


def check_name(name: str) -> None:
    """Refuse a name that is not known.

    Example:
        >>> check_name("WN18")
        Traceback (most recent call last):
        ValueError: expected a data set of the catalog, got 'WN18'; did you mean 'WN18RR'?
    """
    if name.casefold() not in known_data():
        raise ValueError(f"expected a data set of the catalog, got {name!r}; {near_data(name)}")
