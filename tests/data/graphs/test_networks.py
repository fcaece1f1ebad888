"""Networks by name: the published files, checked against their statistics and against copies without pickles."""

import csv
import functools
import pickle
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from hybonet.data import GraphData, data_sets, load_graph, named, registry
from hybonet.data.io import search_path

NAMES = [entry.name for entry in data_sets("graph")]
cached_load = functools.cache(load_graph)


def real(name: str) -> GraphData:
    if named(name).here() == "no":
        pytest.skip(f"{name} is not on the search path (HYBONET_DATA)")
    return cached_load(name)


def plain(name: str) -> Path:
    found = search_path.find(f"hgcn_plain/{name}")
    if found is None:
        pytest.skip(f"hgcn_plain/{name} is not on the search path (HYBONET_DATA)")
    return found


# Real data ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_published_statistics(name: str) -> None:
    graph, expected = real(name), dict(named(name).statistics)
    if named(name).here() == "in part":
        expected["features"] = 0
        assert any("no features: the file" in note for note in graph.notes)
    assert graph.statistics() == expected
    assert set(graph.sha256) or named(name).generated


def test_cora_equals_the_copy_without_pickles() -> None:
    graph, copy = real("cora"), np.load(plain("cora.npz"), allow_pickle=False)
    edges = np.unique(np.sort(copy["edges"], axis=1), axis=0)
    assert np.array_equal(graph.edges.numpy(), edges)
    assert np.array_equal(graph.labels.numpy(), copy["labels"])
    for part, nodes in zip(("train", "val", "test"), vars(graph.split).values(), strict=True):
        assert np.array_equal(nodes.numpy(), copy[f"{part}_idx"])
    features = np.zeros(copy["feat_shape"], dtype=np.float32)
    rows = np.repeat(np.arange(len(features)), np.diff(copy["feat_indptr"]))
    features[rows, copy["feat_indices"]] = copy["feat_data"]
    assert np.array_equal(graph.features.to_dense().numpy(), features)
    sums = graph.inputs("node_classification").to_dense().sum(1)
    assert torch.allclose(sums, torch.ones(2708))


def test_airport_equals_the_copy_without_pickles() -> None:
    graph = real("airport")
    with open(plain("airport_nodes.csv"), newline="") as file:
        rows = list(csv.reader(file))[1:]
    assert graph.nodes.labels == tuple(row[0] for row in rows)
    values = np.array([row[1:] for row in rows], dtype=np.float64)
    assert np.array_equal(graph.features.numpy(), values.astype(np.float32))
    with open(plain("airport_edges.csv"), newline="") as file:
        pairs = list(csv.reader(file))[1:]
    number = {label: at for at, label in enumerate(graph.nodes)}
    given = np.sort([[number[a], number[b]] for a, b in pairs], axis=1)
    loops = given[given[:, 0] == given[:, 1], 0]
    assert np.array_equal(graph.self_loops.numpy(), loops)
    assert np.array_equal(graph.edges.numpy(), np.unique(given[given[:, 0] != given[:, 1]], axis=0))
    # Four classes by three bounds on the last column, in double precision.
    for label, (low, high) in enumerate(zip((-np.inf, 1, 8 / 7, 9 / 7), (1, 8 / 7, 9 / 7, np.inf), strict=True)):
        assert np.array_equal(graph.labels.numpy() == label, (values[:, 4] >= low) & (values[:, 4] < high))
    assert graph.inputs("node_classification").shape == (3188, 4 + 6 + 1)
    assert graph.inputs("link_prediction", edges=graph.edges[:100]).shape == (3188, 5 + 6 + 1)


def test_disease_features_are_not_normalised() -> None:
    graph = real("disease_lp")
    assert torch.equal(graph.inputs("link_prediction"), graph.features)
    assert graph.class_counts() == {"healthy": 1605, "infected": 1060}


def test_what_pubmed_and_disease_nc_lack_is_said() -> None:
    pubmed = real("pubmed")
    if named("pubmed").here() == "in part":
        assert "ind.pubmed.allx is absent, and with it 18,657 of 19,717 feature rows" in " ".join(pubmed.notes)
        with pytest.raises(ValueError, match=r"expected features, got none.*ind.pubmed.allx is absent"):
            pubmed.inputs("node_classification")
    assert pubmed.split.sizes == (60, 500, 1000)
    assert len(pubmed.self_loops) == 3
    disease = real("disease_nc")
    if named("disease_nc").here() == "in part":
        assert "disease_nc.feats.npz is absent" in disease.notes[0]
        assert "disease-small" in disease.notes[0]


# Made-up data ------------------------------------------------------------------------------------------------------


@pytest.fixture
def empty_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HYBONET_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


@pytest.fixture(autouse=True)
def made_up_files_pass(monkeypatch):
    """Made-up files of Citeseer have other checksums than the published ones."""
    files = named("citeseer").files
    for part, file in files.items():
        monkeypatch.setitem(files, part, replace(file, sha256=None))


def put_citeseer(folder: Path, *, index: str = "8\n505\n") -> None:
    """508 nodes: 3 to train, 500 to validate, test nodes 503 to 507 of which the index has two."""
    sparse = pytest.importorskip("scipy.sparse")
    folder.mkdir(parents=True)
    random = np.random.default_rng(0)
    known, width = 503, 4
    allx = (random.random((known, width)) < 0.5).astype(np.float32)
    ally = np.eye(2, dtype=np.int32)[random.integers(0, 2, known)]
    tx, ty = np.array([[1, 0, 0, 0], [0, 0, 0, 5]], dtype=np.float32), np.array([[0, 1], [1, 0]], dtype=np.int32)
    graph = {0: [1, 1, 505], 1: [0], 505: [0, 505], 507: []}
    parts = {"x": allx[:3], "allx": allx, "tx": tx, "y": ally[:3], "ally": ally, "ty": ty, "graph": graph}
    for part, value in parts.items():
        stored = sparse.csr_matrix(value) if part.endswith("x") else value
        (folder / f"ind.citeseer.{part}").write_bytes(pickle.dumps(stored, 2))
    (folder / "ind.citeseer.test.index").write_text(index)


def test_isolated_test_nodes_get_neither_features_nor_label_nor_a_part(empty_path: Path) -> None:
    put_citeseer(empty_path / "data/hgcn/citeseer", index="506\n504\n")
    graph = load_graph("citeseer")
    assert graph.num_nodes == 507
    assert graph.edges.tolist() == [[0, 1], [0, 505]]
    assert graph.self_loops.tolist() == [505]
    assert graph.split.test.tolist() == [504, 506]
    assert graph.features.to_dense()[506].tolist() == [1, 0, 0, 0], "rows of tx stand in the order of the index"
    assert graph.features.to_dense()[504].tolist() == [0, 0, 0, 5]
    assert graph.labels[[504, 506]].tolist() == [0, 1]
    assert graph.labels[[503, 505]].tolist() == [-1, -1]
    assert graph.features.to_dense()[[503, 505]].abs().sum() == 0
    assert "2 isolated test nodes have neither features nor label" in graph.notes[0]
    assert "1 neighbours that the graph file lists twice" in graph.notes[1]


def test_a_file_that_runs_code_is_refused_whatever_its_place(empty_path: Path) -> None:
    folder = empty_path / "data/citeseer"
    put_citeseer(folder, index="506\n504\n")
    (folder / "ind.citeseer.ally").write_bytes(pickle.dumps(print))
    with pytest.raises(ValueError, match=r"ind.citeseer.ally: .*builtins.print"):
        load_graph("citeseer")


@pytest.mark.parametrize(
    ("index", "message"),
    [("506\n", "expected one line for each of the 2 test nodes, got 1"), ("x\n", "line 1: .* 'x'")],
)
def test_a_bad_index_is_named(empty_path: Path, index: str, message: str) -> None:
    put_citeseer(empty_path / "data/citeseer", index=index)
    with pytest.raises(ValueError, match=message):
        load_graph("citeseer")


def test_a_changed_file_is_named_with_both_checksums(empty_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = empty_path / "data/hgcn/disease_nc"
    folder.mkdir(parents=True)
    (folder / "disease_nc.edges.csv").write_text("0,1\n")
    np.save(folder / "disease_nc.labels.npy", np.array([0, 1]))
    with pytest.raises(ValueError, match=r"disease_nc.edges.csv: expected a file with sha256 08b2dcf0\w+, got \w+; "):
        load_graph("disease_nc")


def test_absent_and_unknown_names_say_what_to_do(empty_path: Path) -> None:
    with pytest.raises(ValueError, match=r"files of cora.*hybonet data fetch cora.*ind.cora.x"):
        load_graph("Cora")
    with pytest.raises(ValueError, match=r"neither a path nor a name; did you mean 'airport'\?"):
        load_graph("airpot")
    with pytest.raises(ValueError, match=r"expected no options with the named data 'cora', got labels"):
        load_graph("cora", labels="a.csv")


def test_packed_files_and_the_cache_are_searched(empty_path: Path) -> None:
    import gzip

    put_citeseer(empty_path / "there", index="506\n504\n")
    cache = empty_path / "cache/hybonet/citeseer"
    shutil.copytree(empty_path / "there", cache)
    allx = cache / "ind.citeseer.allx"
    (cache / "ind.citeseer.allx.gz").write_bytes(gzip.compress(allx.read_bytes()))
    allx.unlink()
    assert named("citeseer").folder() == cache
    assert named("citeseer").here() == "yes"
    assert load_graph("citeseer").num_features == 4


def test_fetch_downloads_what_is_missing_with_the_known_checksums(
    empty_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, str | None] = {}

    def download(url: str, target: Path, *, sha256: str | None = None, **_: object) -> Path:
        asked[url.rsplit("/", 1)[1]] = sha256
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(b"")
        return target

    monkeypatch.setattr(registry, "download", download)
    folder = named("disease_nc").fetch()
    assert folder == empty_path / "cache/hybonet/disease_nc"
    assert asked == {file.name: file.sha256 for file in named("disease_nc").files.values()}
    asked.clear()
    assert named("disease_nc").fetch() == folder
    assert asked == {}, "nothing is fetched twice"
    (folder / "disease_nc.feats.npz").unlink()
    named("disease_nc").fetch()
    assert list(asked) == ["disease_nc.feats.npz"]
