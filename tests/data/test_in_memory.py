"""Data of other libraries, as they are: frames, rows, factories and graphs give what files of the same content give."""

import hashlib
import json
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest
import torch

from hybonet import data as hybonet_data
from hybonet.data import (
    load_corpus,
    load_graph,
    load_hierarchy,
    load_knowledge_graph,
    load_mentions,
    load_treebank,
)
from hybonet.data.trees.conllu import conllu_text

pandas = pytest.importorskip("pandas")

TRIPLES = [(n, relation, (n + step) % 30) for n in range(30) for relation, step in (("next", 1), ("second", 2))]
HEADER = ["head", "relation", "tail"]


def labelled(graph: Any) -> list[set[tuple[str, str, str]]]:
    return [
        {(graph.entities[h], graph.relations[r], graph.entities[t]) for h, r, t in graph.triples(split).tolist()}
        for split in ("train", "valid", "test")
    ]


@pytest.fixture(scope="module")
def from_file(tmp_path_factory: pytest.TempPathFactory) -> list[set[tuple[str, str, str]]]:
    path = tmp_path_factory.mktemp("triples") / "ring.csv"
    path.write_text("".join(f"{h},{r},{t}\n" for h, r, t in TRIPLES))
    return labelled(load_knowledge_graph(str(path), valid=0.1, test=0.1))


def multigraph() -> Any:
    graph = networkx.MultiDiGraph()
    graph.add_edges_from((h, t, {"relation": r}) for h, r, t in TRIPLES)
    return graph


def keyed() -> Any:
    graph = networkx.MultiDiGraph()
    graph.add_edges_from((h, t, r) for h, r, t in TRIPLES)
    return graph


def factory(rows: Any = TRIPLES) -> Any:
    triples = pytest.importorskip("pykeen.triples")
    return triples.TriplesFactory.from_labeled_triples(np.array([[str(cell) for cell in row] for row in rows]))


FORMS = {
    "rows": lambda: TRIPLES,
    "rows with a header": lambda: [tuple(HEADER), *TRIPLES],
    "mappings": lambda: [dict(zip(HEADER, row, strict=True)) for row in TRIPLES],
    "pandas": lambda: pandas.DataFrame(TRIPLES, columns=HEADER),
    "pandas, other order": lambda: pandas.DataFrame(TRIPLES, columns=HEADER)[["tail", "head", "relation"]],
    "pandas without names": lambda: pandas.DataFrame(TRIPLES),
    "numpy": lambda: np.array(TRIPLES, dtype=object),
    "polars": lambda: pytest.importorskip("polars").DataFrame(
        {name: [row[at] for row in TRIPLES] for at, name in enumerate(HEADER)}
    ),
    "pyarrow": lambda: pytest.importorskip("pyarrow").Table.from_pandas(pandas.DataFrame(TRIPLES, columns=HEADER)),
    "datasets": lambda: pytest.importorskip("datasets").Dataset.from_pandas(pandas.DataFrame(TRIPLES, columns=HEADER)),
    "networkx, attribute": multigraph,
    "networkx, key": keyed,
    "pykeen": factory,
}


@pytest.mark.parametrize("form", FORMS)
def test_triples_of_any_form_are_those_of_a_file(form: str, from_file: list[set[tuple[str, str, str]]]) -> None:
    graph = load_knowledge_graph(FORMS[form](), valid=0.1, test=0.1)
    assert labelled(graph) == from_file
    assert any("held out with seed 0" in note for note in graph.notes)
    assert all(len(checksum) == 64 for checksum in graph.sha256.values())
    assert load_knowledge_graph(graph) is graph


def test_parts_are_kept(from_file: list[set[tuple[str, str, str]]]) -> None:
    train, valid, test = ([tuple(row) for row in sorted(part)] for part in from_file)
    frame = pandas.DataFrame(train, columns=HEADER)
    expected = [set(train), set(valid), set(test)]
    assert labelled(load_knowledge_graph({"train": frame, "dev": valid, "test": test})) == expected
    assert labelled(load_knowledge_graph((factory(train), factory(valid), factory(test)))) == expected
    two = load_knowledge_graph((factory(train), factory(test)))
    assert labelled(two)[2] == set(test)
    assert "for valid held out" in " ".join(two.notes)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (3, "expected a name, a path, a data frame or rows of tuples, got int"),
        ([], "expected rows, got an empty list"),
        ([("a", "b")], "expected 3 columns .* got 2; choose three with columns="),
        ([("a", "r", "b"), ("a", None, "b")], "row 2: expected a printable relation, got an empty field"),
        ([HEADER, ("a", "r", float("nan"))], "row 2: expected a printable tail, got an empty field"),
        ([("a", "r", "b"), ("c",)], r"row 2: expected 3 values as in the first row, got \('c',\)"),
        (["a r b"], "row 1: expected a tuple or a mapping, got 'a r b'"),
        ({"rows": TRIPLES}, "expected parts called train, valid and test, got rows"),
        (networkx.path_graph(3), "expected a directed graph, got Graph"),
        (networkx.DiGraph([(1, 2)]), "expected a relation on every edge"),
    ],
    ids=str,
)
def test_mistakes_in_triples_are_named(given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load_knowledge_graph(given)


def test_columns_are_chosen_by_name_and_text_options_are_refused() -> None:
    frame = pandas.DataFrame([("x", "a", "r", "b")], columns=["id", "who", "does", "whom"])
    graph = load_knowledge_graph(frame, columns=("who", "does", "whom"), valid=0, test=0)
    assert graph.describe(graph.train[0]) == "a — r → b"
    with pytest.raises(ValueError, match="expected separator with text files only, got it with DataFrame"):
        load_knowledge_graph(frame, separator=";")


# Graphs ------------------------------------------------------------------------------------------------------------


def test_graphs_of_any_form_are_those_of_files(tmp_path: Path) -> None:
    pairs, features = [(2, 1), (2, 3), (3, 2), (3, 3)], [(1, 0.5), (2, 1.0), (3, 2.0)]
    labels = {1: "x", 2: "y", 3: "x"}
    (tmp_path / "e.csv").write_text("".join(f"{a},{b}\n" for a, b in pairs))
    (tmp_path / "f.csv").write_text("".join(f"{a},{b}\n" for a, b in features))
    (tmp_path / "l.csv").write_text("node,label\n" + "".join(f"{a},{b}\n" for a, b in labels.items()))
    expected = load_graph(str(tmp_path / "e.csv"), features=tmp_path / "f.csv", labels=tmp_path / "l.csv")
    frame = pandas.DataFrame(pairs, columns=["source", "target"])
    for edges in (pairs, frame, np.array(pairs), torch.tensor(pairs), [("source", "target"), *pairs]):
        found = load_graph(edges, features=pandas.DataFrame(features, columns=["node", "f"]), labels=labels)
        assert found.nodes.labels == expected.nodes.labels
        assert torch.equal(found.edges, expected.edges)
        assert torch.equal(found.features, expected.features)
        assert torch.equal(found.labels, expected.labels)
        assert found.notes == expected.notes


def test_a_graph_of_networkx_brings_isolated_nodes_and_labels() -> None:
    club = networkx.karate_club_graph()
    club.add_node("nobody")
    graph = load_graph(club, label_column="club")
    assert graph.statistics() == {"nodes": 35, "edges": 78, "features": 0, "classes": 2}
    weights = "attributes of edges are left out, weights included: weight"
    assert graph.notes == (weights, "1 of 35 nodes have no label", "1 nodes have no edge")
    assert load_graph(club).labels is None
    with pytest.raises(ValueError, match="Graph: expected nodes with the attribute 'Club', got club; name another"):
        load_graph(club, label_column="Club")


def test_what_a_graph_of_networkx_loses_is_said() -> None:
    plain = networkx.Graph([(1, 2), (2, 3)])
    assert load_graph(plain).notes == ()
    assert load_graph(networkx.DiGraph(plain)).notes[0] == "edges have no direction here: that of the graph is left out"


def test_labels_may_be_a_series_with_holes() -> None:
    edges = pandas.DataFrame({"source": [1, 2, 3], "target": [2, 3, 4]})
    labels = pandas.Series([7, None, 8, 7], index=[1, 2, 3, 4])  # floats, as one is missing
    graph = load_graph(edges, labels=labels, allow_unlabelled=True)
    assert (list(graph.nodes), graph.classes) == (["1", "2", "3", "4"], ("7", "8"))
    assert graph.labels is not None
    assert graph.labels.tolist() == [0, -1, 1, 0]
    halves = load_graph([(1, 2), (2, 3)], labels={1: 0.5, 2: 1.0, 3: 2.0})
    assert halves.classes == ("0.5", "1.0", "2.0")


def test_names_of_equal_numbers_stand_in_one_order() -> None:
    edges = [("007", "7"), ("07", "7"), ("7", "b")]
    assert list(load_graph(edges).nodes) == list(load_graph(edges[::-1]).nodes) == ["007", "07", "7", "b"]


def test_data_of_pyg_is_a_graph() -> None:
    pyg = pytest.importorskip("torch_geometric.data")
    given = pyg.Data(edge_index=torch.tensor([[0, 1], [1, 2]]), x=torch.ones(3, 2))
    assert load_graph(given).statistics() == {"nodes": 3, "edges": 2, "features": 2, "classes": 0}


def test_a_knowledge_graph_is_not_taken_for_a_graph() -> None:
    with pytest.raises(ValueError, match="which is a knowledge graph; load it with load_knowledge_graph"):
        load_graph("wordnet")
    with pytest.raises(ValueError, match=r"row 2: expected two names, got an empty one"):
        load_graph([("a", "b"), ("c", None)])


# Text, trees, mentions, hierarchies --------------------------------------------------------------------------------


def test_pairs_of_sentences() -> None:
    rows = [(f"dog {n}", f"Hund {n}") for n in range(40)]
    expected = load_corpus(rows).splits
    assert sum(map(len, expected.values())) == 40
    frame = pandas.DataFrame(rows, columns=["en", "de"])
    assert load_corpus(frame).splits == expected
    assert load_corpus(frame[["de", "en"]], direction="en-de").splits == expected
    translation = [{"translation": {"en": a, "de": b, "fr": "?"}} for a, b in rows]
    assert load_corpus(translation, direction="en-de").splits == expected
    parts = load_corpus({"train": rows, "validation": [*rows[:2], ("", "leer")]}, direction="en-de")
    assert parts.statistics() == {"train": 40, "valid": 2}
    assert "rows: 1 pair with an empty side left out (row 3)" in parts.notes
    with pytest.raises(ValueError, match="expected two columns, a sentence and its translation, got 3"):
        load_corpus([("a", "b", "c")])


def test_trees() -> None:
    trees = [*load_treebank("toy").test[:20]]
    split = load_treebank(trees)
    assert split.sha256 == {"all": hashlib.sha256(conllu_text(trees).encode()).hexdigest()}  # as of a file of them
    assert (len(split.train), len(split.valid), len(split.test)) == (16, 2, 2)
    rows = [{"tokens": tree.words, "upos": tree.tags, "head": [str(head) for head in tree.heads]} for tree in trees]
    assert [tree.heads for tree in load_treebank(rows).train] == [tree.heads for tree in split.train]
    rows[3]["head"] = ["1"] * len(rows[3]["tokens"])
    with pytest.raises(ValueError, match="rows, row 4: expected one word with head 0"):
        load_treebank(rows)
    parts = load_treebank({"train": trees, "validation": trees, "test": trees})
    assert len(parts.valid) == 20
    assert parts.sha256 == dict.fromkeys(("train", "valid", "test"), split.sha256["all"])


def test_mentions(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("The 1 0\nmayor 0 1\nspoke 1 1\n")
    rows = [(f"The [mayor] spoke {n} .", ["person"]) for n in range(20)]
    data = load_mentions(rows, words=tmp_path / "words.txt")
    assert data.statistics() == {"types": 1, "train": 16, "valid": 2, "test": 2}
    usual = {
        "left_context_token": ["The"],
        "mention_span": "mayor",
        "right_context_token": ["spoke"],
        "y_str": ["person"],
    }
    again = load_mentions({"train": [usual], "dev": [usual]}, words=tmp_path / "words.txt")
    assert again.train[0].sentence == "The [mayor] spoke"
    with pytest.raises(ValueError, match=r"row 1: expected one mention in brackets"):
        load_mentions([("no brackets", ["x"])], words=tmp_path / "words.txt")


def test_hierarchies() -> None:
    edges = [("dog", "canine"), ("wolf", "canine"), ("canine", "mammal")]
    expected = load_hierarchy(edges)
    assert expected.statistics() == {"names": 4, "edges": 3}
    for form in (
        pandas.DataFrame(edges, columns=["child", "parent"]),
        networkx.DiGraph(edges),
        [("child", "parent"), *edges],
    ):
        assert load_hierarchy(form).names == expected.names
    told = load_hierarchy([("a", "b"), ("b", "b"), ("a", "b")])
    assert told.statistics() == {"names": 2, "edges": 1}
    assert told.notes == (
        "1 edges were given again, and are kept once",
        "1 names had an edge to themselves, which is left out",
    )


@pytest.mark.parametrize(
    "load",
    [
        lambda: load_knowledge_graph(TRIPLES),
        lambda: load_graph([("a", "b")]),
        lambda: load_corpus("toy"),
        lambda: load_treebank("toy"),
        lambda: load_mentions("little-town"),
        lambda: load_hierarchy([("dog", "canine")]),
    ],
    ids=["kg", "graph", "text", "trees", "mentions", "hierarchy"],
)
def test_what_was_loaded_stays_as_its_checksum_says(load: Any) -> None:
    with pytest.raises(FrozenInstanceError):
        load().source = "another"


# Names -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("old", "new"), [("load_network", "load_graph"), ("load_triples", "load_knowledge_graph")])
def test_old_names_work_with_a_warning(old: str, new: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"hybonet.data.{old} is now {new}"):
        assert getattr(hybonet_data, old) is getattr(hybonet_data, new)


def test_json_is_read_as_arrays_and_as_lines(tmp_path: Path) -> None:
    rows = [(f"n{at}", "next", f"n{(at + step) % 20}") for at in range(20) for step in (1, 2, 3)]
    expected = load_knowledge_graph(rows)
    objects = [{"tail": tail, "head": head, "relation": kind} for head, kind, tail in rows]
    for name, content in (
        ("array.json", json.dumps(rows)),
        ("lines.jsonl", "\n".join(map(json.dumps, rows))),
        ("objects.json", json.dumps(objects, indent=1)),
        ("objects.jsonl", "\n".join(map(json.dumps, objects))),
    ):
        (tmp_path / name).write_text(content)
        assert torch.equal(load_knowledge_graph(tmp_path / name).train, expected.train), name
    (tmp_path / "edges.json").write_text(json.dumps([row[::2] for row in rows]))
    assert load_graph(tmp_path / "edges.json").num_nodes == 20
    (tmp_path / "tree.jsonl").write_text('{"child": "dog", "parent": "canine"}\n{"child": "wolf", "parent": "canine"}')
    assert load_hierarchy(tmp_path / "tree.jsonl").names == ("canine", "dog", "wolf")
    for content, told in (('[["a", "r"], ["b"]]', "row 2"), ('{"a": 1}\n{oops', "line 2"), ("[1, 2", "line 1")):
        (tmp_path / "bad.json").write_text(content)
        with pytest.raises(ValueError, match=rf"bad\.json, {told}"):
            load_knowledge_graph(tmp_path / "bad.json")
