"""Old pickles: what is read, and that nothing else runs."""

import os
import pickle
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from hybonet.data.io.legacy_pickle import NetworkxGraph, SparseRows, read_legacy_pickle
from hybonet.data.io.source_file import SourceFile


def read(content: bytes) -> object:
    return read_legacy_pickle(SourceFile("old.p", "old.p", content))


class Call:
    """Pickles as a call of any function."""

    def __init__(self, function: object, *arguments: object) -> None:
        self.call = function, arguments

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return self.call


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_malicious_pickle_does_not_run(tmp_path: Path, protocol: int) -> None:
    target = tmp_path / "made by the pickle"
    content = pickle.dumps({"x": Call(os.mkdir, str(target))}, protocol)
    with pytest.raises(
        ValueError, match=r"old.p: .*the name (posix|nt).mkdir, which is not on the list.*nothing of it"
    ):
        read(content)
    assert not target.exists()
    pickle.loads(content)
    assert target.exists(), "the same pickle does run elsewhere, so the test would notice"


@pytest.mark.parametrize("function", [eval, exec, getattr, __import__, np.load, np.lib.format.open_memmap])
def test_other_names_are_refused_by_name(function: object) -> None:
    with pytest.raises(ValueError, match=rf"the name [\w.]*{function.__name__}"):
        read(pickle.dumps(Call(function, "1")))


def test_dotted_names_do_not_reach_through_allowed_ones() -> None:
    content = b"\x80\x04\x8c\x08builtins\x8c\x0ddict.fromkeys\x93."
    with pytest.raises(ValueError, match=r"the name builtins.dict.fromkeys"):
        read(content)


@pytest.mark.parametrize("protocol", [2, 3, 4])
@pytest.mark.parametrize(
    "array", [np.arange(6, dtype=np.int32).reshape(2, 3), np.asfortranarray(np.eye(3, 2)), np.array([1, 2], ">i2")]
)
def test_arrays_come_back(array: np.ndarray, protocol: int) -> None:
    np.testing.assert_array_equal(read(pickle.dumps(array, protocol)), array)


def test_containers_come_back() -> None:
    assert read(pickle.dumps(defaultdict(list, {0: [1, 2]}), 2)) == {0: [1, 2]}


def test_sparse_matrices_come_back() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    matrix = sparse.csr_matrix(np.array([[0, 2.0], [3, 0]], dtype=np.float32))
    stored = read(pickle.dumps(matrix, 2))
    assert isinstance(stored, SparseRows)
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(stored.state[part], getattr(matrix, part))


def test_objects_inside_arrays_are_refused() -> None:
    with pytest.raises(ValueError, match=r"array of object"):
        read(pickle.dumps(np.array([{}], dtype=object), 2))


@pytest.mark.parametrize("content", [b"", b"not a pickle", pickle.dumps(np.arange(9))[:-20], b"\x80\x02}q\x00(K"])
def test_damage_is_a_clean_error(content: bytes) -> None:
    with pytest.raises(ValueError, match=r"old.p: expected a pickle of arrays or a graph"):
        read(content)


def test_a_graph_is_read_without_networkx() -> None:
    state = pickle.dumps({"_node": {7: {"feat": [1.5]}}, "_adj": {7: {}}}, 2)
    content = b"\x80\x02cnetworkx.classes.graph\nGraph\n)\x81" + state[2:-1] + b"b."
    graph = read(content)
    assert isinstance(graph, NetworkxGraph)
    assert graph.state["_node"][7]["feat"] == [1.5]
