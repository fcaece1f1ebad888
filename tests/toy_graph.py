"""A knowledge graph of a few dozen facts that tests train on."""

from __future__ import annotations

from hybonet.data.triples.triple_data import TripleData


def toy_graph() -> TripleData:
    """Numbers with successor and double: enough structure to rank above chance."""
    facts = [(f"n{i}", "next", f"n{(i + 1) % 20}") for i in range(20)]
    facts += [(f"n{i}", "double", f"n{2 * i % 20}") for i in range(20)]
    return TripleData.from_labels(facts[:30], facts[30:35], facts[35:])
