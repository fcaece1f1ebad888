"""Networks from a user's own files: what is accepted, what is counted, and what every mistake is told."""

import gzip
import io
from pathlib import Path

import numpy as np
import pytest
import torch

from hybonet.data import GraphData, load_graph
from hybonet.data.graphs.node_features import stretched

EDGES = "source,target\nann,bob\nbob,cat\n"
FEATURES = "node,age,height\nann,31,1.5\nbob,47,1.75\ncat,12,1.25\n"
LABELS = "node,label\nann,red\nbob,blue\ncat,red\n"


def read(folder: Path, *, edges: str = EDGES, name: str = "edges.csv", **options: object) -> GraphData:
    """Texts given for features and labels become CSV files."""
    (folder / name).write_text(edges)
    for table in ("features", "labels"):
        if isinstance(options.get(table), str):
            (folder / f"{table}.csv").write_text(str(options[table]))
            options[table] = folder / f"{table}.csv"
    return load_graph(folder / name, **options)


def test_three_tables_make_a_graph(tmp_path: Path) -> None:
    graph = read(tmp_path, features=FEATURES, labels=LABELS, normalise_rows=True)
    assert graph.nodes.labels == ("ann", "bob", "cat")
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert graph.features.tolist() == [[31, 1.5], [47, 1.75], [12, 1.25]]
    assert graph.labels.tolist() == [1, 0, 1]
    assert graph.classes == ("blue", "red")
    assert graph.notes == ()
    assert set(graph.sha256) == {"edges.csv", "features.csv", "labels.csv"}
    assert torch.allclose(graph.inputs("node_classification").sum(1), torch.ones(3))


def npz(path: Path, **arrays: object) -> Path:
    np.savez(path, **{name: np.array(values) for name, values in arrays.items()})
    return path


def test_every_format_gives_the_same(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    expected = read(tmp_path, features=FEATURES, labels=LABELS)
    names, ages, heights = ["ann", "bob", "cat"], [31, 47, 12], [1.5, 1.75, 1.25]
    pairs, colours = [["ann", "bob"], ["bob", "cat"]], ["red", "blue", "red"]
    (tmp_path / "edges.tsv").write_text("ann\tbob\n\nbob\tcat\n")
    (tmp_path / "f.csv.gz").write_bytes(gzip.compress(FEATURES.encode()))
    parquet.write_table(arrow.table({"to": ["bob", "cat"], "from": ["ann", "bob"]}), tmp_path / "edges.parquet")
    parquet.write_table(arrow.table({"node": names, "age": ages, "height": heights}), tmp_path / "f.parquet")
    parquet.write_table(arrow.table({"node": names, "colour": colours}), tmp_path / "l.parquet")
    variants = [
        (tmp_path / "edges.tsv", tmp_path / "f.csv.gz", tmp_path / "labels.csv"),
        (tmp_path / "edges.parquet", tmp_path / "f.parquet", tmp_path / "l.parquet"),
        (
            npz(tmp_path / "e.npz", edges=pairs),
            npz(tmp_path / "f.npz", features=np.stack((ages, heights), 1), nodes=names),
            npz(tmp_path / "l.npz", labels=colours, nodes=names),
        ),
    ]
    for edges, features, labels in variants:
        graph = load_graph(edges, features=features, labels=labels)
        assert graph.nodes == expected.nodes
        assert torch.equal(graph.edges, expected.edges)
        assert torch.equal(graph.features, expected.features)
        assert torch.equal(graph.labels, expected.labels)


def test_edges_alone_number_nodes_in_natural_order(tmp_path: Path) -> None:
    graph = read(tmp_path, edges="10,9\n9,2\n2,x\n")
    assert graph.nodes.labels == ("2", "9", "10", "x")
    assert graph.edges.tolist() == [[0, 1], [0, 3], [1, 2]]


def test_what_is_left_out_or_odd_is_counted(tmp_path: Path) -> None:
    edges = "source,target\nann,bob\nbob,ann\nann,bob\ncat,cat\nann,dan\n"
    features = "ann,1\nbob,2\ncat,3\ndan,4\neve,5\n"
    graph = read(tmp_path, edges=edges, features=features, labels="ann,x\nbob,\ncat,y\n", allow_unlabelled=True)
    assert graph.notes == (
        "3 of 5 nodes have no label",
        "2 edges were given again, in either direction, and are kept once",
        "1 nodes had an edge to themselves, which is left out",
        "2 nodes have no edge",
    )
    assert graph.labels.tolist() == [0, -1, 1, -1, -1]


def test_nodes_that_the_label_table_lacks_are_unlabelled_where_that_is_allowed(tmp_path: Path) -> None:
    edges = "source,target\nbob,eve\nbob,ann\ndan,ann\n"
    graph = read(tmp_path, edges=edges, labels="bob,x\nann,y\n", allow_unlabelled=True)
    assert graph.nodes.labels == ("bob", "ann", "dan", "eve")
    assert graph.labels.tolist() == [0, 1, -1, -1]
    assert graph.notes == ("2 of 4 nodes have no label",)
    with pytest.raises(ValueError, match="got 'eve'") as refusal:
        read(tmp_path, edges=edges, labels="bob,x\nann,y\n")
    assert "--allow-unlabelled" in str(refusal.value)


def test_a_header_that_nobody_recognises_is_told_of_among_unlabelled_nodes(tmp_path: Path) -> None:
    graph = read(tmp_path, edges="who,whom\nann,bob\n", labels="ann,x\nbob,y\n", allow_unlabelled=True)
    assert any("the first row (who, whom) is read as an edge" in note for note in graph.notes)


def test_a_doubtful_first_row_is_noted(tmp_path: Path) -> None:
    graph = read(tmp_path, edges="who,whom\nann,bob\nbob,cat\n")
    assert "the first row (who, whom) is read as an edge" in graph.notes[0]
    assert read(tmp_path, edges="who,whom\nann,bob\nbob,cat\n", header=True).num_nodes == 3


def test_a_header_is_seen_by_its_words_and_skipped(tmp_path: Path) -> None:
    ring = "".join(f"n{at},n{(at + 1) % 6}\n" for at in range(6))
    graph = read(tmp_path, edges="who,whom\n" + ring)
    assert (graph.num_nodes, len(graph.edges)) == (6, 6)
    assert "the first row (who, whom) is read as column names" in graph.notes[0]
    assert read(tmp_path, edges="who,whom\n" + ring, header=False).num_nodes == 8
    numbers = read(tmp_path, edges="who,whom\n1,2\n3,4\n5,6\n")  # none of them occurs again
    assert numbers.nodes.labels == ("1", "2", "3", "4", "5", "6")
    named = read(tmp_path, edges="who,whom\nann,bob\n", features=FEATURES)
    assert named.nodes.labels == ("ann", "bob", "cat")
    unsure = read(tmp_path, edges="who,whom\n" + ring + "eve,sue\n")
    assert unsure.num_nodes == 10
    assert "--header" in unsure.notes[0]
    below = read(tmp_path, edges="who,whom\neve,sue\n" + ring)  # the odd one out may stand anywhere
    assert below.num_nodes == 10
    again = read(tmp_path, edges="who,whom\nwho,sue\n" + ring)  # its word occurs again
    assert again.num_nodes == 9
    assert again.notes == ()


def test_missing_numbers_and_words_become_numbers_and_are_noted(tmp_path: Path) -> None:
    graph = read(tmp_path, features="node,age,eyes\nann,3,blue\nbob,NA,brown\ncat,5,\n")
    assert graph.features.tolist() == [[3, 1, 0], [4, 0, 1], [5, 0, 0]]
    assert any("1 missing number filled with the mean" in note for note in graph.notes)
    assert any("column 'eyes' has words: a number each for its 2 words" in note for note in graph.notes)
    rows = [f"n{at},town {at},{at}" for at in range(50)]
    graph = read(tmp_path, edges="n0,n1\nn1,n2\n", features="node,town,x\n" + "\n".join(rows) + "\n")
    assert graph.features.shape == (50, 33)
    assert graph.features[:, :32].abs().sum(1).tolist() == [1.0] * 50
    assert any("hashed into 32 numbers" in note for note in graph.notes)
    few = read(
        tmp_path,
        edges="n0,n1\n",
        features="node,x\n" + "".join(f"n{at},{at if at < 2 else 'high'}\n" for at in range(5)),
    )
    assert few.features.shape == (5, 3)  # two numbers among five: words
    words = read(tmp_path, features="ann,red\nbob,red\ncat,blue\n")  # a first row like the others is no header
    assert words.features.shape == (3, 2)


def test_nodes_called_by_single_letters_are_no_header(tmp_path: Path) -> None:
    assert len(read(tmp_path, edges="a,b\nu,v\nb,u\n").edges) == 3


def test_columns_are_chosen_by_name_or_place(tmp_path: Path) -> None:
    edges = "weight,who,whom\n2,ann,bob\n3,bob,cat\n"
    for columns in (("who", "whom"), (1, 2)):
        graph = read(tmp_path, edges=edges, columns=columns, header=True)
        assert graph.nodes.labels == ("ann", "bob", "cat")
    graph = read(tmp_path, labels="node,shape,colour\nann,o,red\nbob,o,blue\ncat,o,red\n", label_column="colour")
    assert graph.classes == ("blue", "red")


@pytest.mark.parametrize(
    ("given", "fragments"),
    [
        ({"edges": ""}, ["edges.csv", "at least one edge"]),
        ({"edges": "source,target\n"}, ["at least one edge, got none"]),
        ({"edges": "ann,bob\nbob\n"}, ["edges.csv, line 2", "expected 2 columns", "got 1: 'bob'"]),
        ({"edges": "ann,bob\nbob,\n"}, ["edges.csv, line 2", "an empty one"]),
        ({"edges": "a,b,1\nc,d,2\n"}, ["edges.csv, line 1", "expected 2 columns, got 3", "columns="]),
        ({"edges": "x,y\nann,bob\n", "columns": ("x", "z")}, ["a column 'z'", "x, y"]),
        ({"edges": "xx,yy\nann,bob\n", "columns": ("xx", "yyy")}, ["did you mean 'yy'?"]),
        ({"columns": ("source", "source")}, ["two different columns"]),
        ({"columns": "source"}, ["two columns by name or position"]),
        (
            {"edges": EDGES + "cat,dan\n", "features": FEATURES},
            ["edges.csv, line 4", "features.csv, got 'dan'", "add a row"],
        ),
        ({"features": FEATURES + "bob,1,2\n"}, ["features.csv, line 5", "'bob' again after line 3", "keep one"]),
        ({"features": FEATURES + "dan,1\n"}, ["features.csv, line 5", "expected 3 columns", "got 2: 'dan,1'"]),
        ({"features": FEATURES + "dan,1,inf\n"}, ["features.csv, line 5", "column 'height'", "'inf'", "'dan'"]),
        ({"features": FEATURES + "dan,1e999,2\n"}, ["line 5", "finite"]),
        ({"features": FEATURES + "dan,1,-1e39\n"}, ["csv, line 5", "up to 3.403e+38", "column 'height'", "'-1e39'"]),
        ({"features": FEATURES + "dan,tall,2\neve,old,x\n"}, ["3 mistakes", "line 5", "'tall'", "line 6", "'old'"]),
        ({"features": FEATURES + ",1,2\n"}, ["line 5", "name in the first column"]),
        ({"features": "ann\nbob\n"}, ["at least one number per row"]),
        ({"labels": LABELS + "bob,red\n"}, ["labels.csv, line 5", "'bob' again"]),
        ({"labels": "node,label\nann,red\nbob,\ncat,red\n"}, ["labels.csv, line 3", "'bob'", "allow_unlabelled"]),
        ({"labels": "node,label\nann,red\nbob,blue\n"}, ["edges.csv, line 3", "labels.csv, got 'cat'"]),
        (
            {"labels": "node,a,b\nann,red,1\n"},
            ["labels.csv, line 2", "expected 2 columns (node, label)", "label_column="],
        ),
        ({"labels": "node,a,b\nann,red,1\n", "label_column": "c"}, ["labels.csv", "a column 'c'"]),
        ({"features": FEATURES, "labels": LABELS + "dan,red\n"}, ["labels.csv, line 5", "features.csv, got 'dan'"]),
        (
            {"features": FEATURES, "labels": "node,label\nann,red\nbob,blue\n"},
            ["labels.csv", "a label for every node", "none for 1: 'cat'", "allow_unlabelled"],
        ),
        ({"name": "edges.xlsx"}, ["edges.xlsx", ".parquet", "rename"]),
    ],
)
def test_mistakes_are_named_with_place_value_and_remedy(
    tmp_path: Path, given: dict[str, object], fragments: list[str]
) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        read(tmp_path, **given)
    for fragment in fragments:
        assert fragment in str(caught.value)


@pytest.mark.parametrize(
    ("arrays", "fragments"),
    [
        ({"edges": {"pairs": [[0, 1]]}}, ["an array called 'edges', got pairs"]),
        ({"edges": {"edges": [[0, 1, 2]]}}, ["shape (n, 2), got (1, 3)"]),
        ({"features": {"features": [[1.0], [np.inf], [2.0]]}}, ["row 2", "inf", "node '1'"]),
        ({"features": {"features": [[1.0], [2.0], [1e39]]}}, ["row 3", "float32", "column 0", "1e+39", "node '2'"]),
        ({"features": {"features": [["a"], ["b"]]}}, ["as numbers"]),
        ({"features": {"features": [[1.0], [2.0]], "nodes": ["0", "0"]}}, ["2 different names"]),
        ({"labels": {"labels": [[1], [2]]}}, ["shape (n,), got (2, 1)"]),
    ],
)
def test_mistakes_in_arrays(tmp_path: Path, arrays: dict[str, dict[str, object]], fragments: list[str]) -> None:
    good = {"edges": {"edges": [[0, 1], [1, 2]]}} | arrays
    paths = {part: npz(tmp_path / f"{part}.npz", **content) for part, content in good.items()}
    with pytest.raises(ValueError, match=r"\.npz") as caught:
        load_graph(paths.pop("edges"), **paths)
    for fragment in fragments:
        assert fragment in str(caught.value)


def test_pickled_and_damaged_arrays_are_refused(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    np.savez(buffer, edges=np.array([{}], dtype=object))
    for content in (buffer.getvalue(), b"no archive"):
        (tmp_path / "e.npz").write_bytes(content)
        with pytest.raises(ValueError, match=r"e.npz: expected an .npz of numbers and text"):
            load_graph(tmp_path / "e.npz")


def test_many_mistakes_are_counted_and_the_first_shown(tmp_path: Path) -> None:
    features = "node,x\n" + "".join(f"n{i},{'bad' if i < 9 else i}\n" for i in range(18))
    with pytest.raises(ValueError, match="9 mistakes") as caught:
        read(tmp_path, features=features, header=True)
    assert str(caught.value).count("line ") == 5
    assert "and 4 more" in str(caught.value)


def test_columns_of_edges_that_are_not_read_are_told(tmp_path: Path) -> None:
    graph = read(tmp_path, edges="source,target,weight\nann,bob,2\n")
    assert graph.notes == ("of the edges two columns are read; left out, weights included: weight",)


@pytest.mark.parametrize("sparse", [False, True])
def test_features_whose_squares_are_beyond_single_precision_are_scaled(sparse: bool) -> None:
    features = torch.tensor([[3e30, 4e30], [0.0, 15e30]])
    scaled = stretched(features.to_sparse_csr() if sparse else features, 1.0).to_dense()
    torch.testing.assert_close(scaled, torch.tensor([[0.3, 0.4], [0.0, 1.5]]))


@pytest.mark.parametrize(("missing", "shown"), [(5, "'c4'; add"), (6, "'c4', …; add")])
def test_of_many_nodes_without_a_label_the_first_are_named(tmp_path: Path, missing: int, shown: str) -> None:
    features = "node,x\n" + "".join(f"c{at},{at}\n" for at in range(missing)) + "dog,1\n"
    with pytest.raises(ValueError, match=f"got none for {missing}: .*{shown}"):
        read(tmp_path, edges="c0,dog\n", features=features, labels="dog,red\n")
