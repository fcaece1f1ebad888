"""Files that promise or hold too much are refused in a line, before the memory is full."""

import gzip
import io
import json
import lzma
import pickle
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

from hybonet.data.graphs.planetoid import read_planetoid
from hybonet.data.io.cell_grid import read_arrays
from hybonet.data.io.legacy_pickle import read_legacy_pickle
from hybonet.data.io.numpy_file import read_npy, read_npz
from hybonet.data.io.source_file import SourceFile, read_source, unpack
from hybonet.files import parse_json


def npz(*members: tuple[str, bytes], packed: bool = True) -> SourceFile:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED) as file:
        for name, content in members:
            file.writestr(name, content)
    return SourceFile("a.npz", "a.npz", buffer.getvalue())


def header(shape: str, number_type: str = "<f4") -> bytes:
    text = f"{{'descr': '{number_type}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


@pytest.mark.parametrize(("pack", "ending"), [(gzip.compress, ".gz"), (lzma.compress, ".xz")])
def test_what_unpacks_to_far_more_is_refused_while_it_unpacks(pack, ending, monkeypatch) -> None:
    monkeypatch.setattr("hybonet.data.io.source_file._SMALL", 1_000_000)
    bomb = pack(bytes(60_000_000))
    assert len(bomb) < 100_000
    tracemalloc.start()
    with pytest.raises(ValueError, match=rf"bomb.tsv{ending}: expected at most .* unpacked from .*HYBONET_MAX_RATIO"):
        unpack(f"bomb.tsv{ending}", bomb)
    assert tracemalloc.get_traced_memory()[1] < 30_000_000
    tracemalloc.stop()
    monkeypatch.setenv("HYBONET_MAX_RATIO", "10000")
    assert len(unpack(f"bomb.tsv{ending}", bomb).content) == 60_000_000
    monkeypatch.setenv("HYBONET_MAX_BYTES", "2e6")
    with pytest.raises(ValueError, match="HYBONET_MAX_BYTES"):
        unpack(f"bomb.tsv{ending}", bomb)


@pytest.mark.parametrize(("pack", "ending"), [(gzip.compress, ".gz"), (lzma.compress, ".xz")])
def test_parts_that_follow_one_another_are_read_and_half_ones_are_refused(pack, ending) -> None:
    assert unpack(f"a{ending}", pack(b"dog") + pack(b"cat")).content == b"dogcat"
    for broken in (pack(b"dog")[:-5], b""):
        if broken or ending == ".xz":
            with pytest.raises(ValueError, match=r"expected .* data, got a damaged or mislabelled file"):
                unpack(f"a{ending}", broken)


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "a.tsv").write_bytes(bytes(2000))
    monkeypatch.setenv("HYBONET_MAX_BYTES", "1000")
    with pytest.raises(ValueError, match="expected at most 1,000 bytes, got 2,000"):
        read_source(tmp_path / "a.tsv")
    for limit in ("many", "0", "-1", "nan", "inf", "1e18"):
        monkeypatch.setenv("HYBONET_MAX_BYTES", limit)
        with pytest.raises(ValueError, match=f"expected a positive number .* HYBONET_MAX_BYTES, got '{limit}'"):
            read_source(tmp_path / "a.tsv")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (header("(1000000000000,)") + bytes(8), "a header that promises an array of shape"),
        (header("(-2,)") + bytes(8), "a header that promises an array of shape"),
        (header("(3,)") + bytes(8), "a header that promises an array of shape|8 bytes of 12"),
        (header("(1,)", "|O") + pickle.dumps(1), "it has Python objects"),
        (header("(" * 5000), "expected a"),
        (b"\x93NUMPY\x09\x00", "version"),
        (b"", "expected a"),
    ],
)
def test_a_lying_header_is_not_believed(content: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_npy(SourceFile("a.npy", "a.npy", content))
    with pytest.raises(ValueError, match=message):
        read_npz(npz(("a.npy", content)))


def test_an_npz_that_says_it_is_locked_or_packed_otherwise_is_refused() -> None:
    whole = bytearray(npz(("a.npy", header("(2,)") + bytes(8))).content)
    directory = whole.rindex(b"PK\x01\x02")
    for place, value in ((8, 1), (10, 14), (10, 99)):
        damaged = bytearray(whole)
        damaged[directory + place] = value
        damaged[place - 2] = value
        with pytest.raises(ValueError, match=r"a.npz: expected an .npz of numbers and text, got other data"):
            read_npz(SourceFile("a.npz", "a.npz", bytes(damaged)))


def test_an_npz_without_arrays_or_with_a_bomb_is_refused() -> None:
    with pytest.raises(ValueError, match="expected an array called 'edges', got none"):
        read_arrays(npz(), edges=True)
    with pytest.raises(ValueError, match=r"a.npz: expected at most 64,000,000 bytes unpacked from"):
        read_npz(npz(("a.npy", header("(80000000,)", "|u1") + bytes(80_000_000))))


def test_arrays_of_every_layout_are_read() -> None:
    arrays = {
        "columns": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "nothing": np.zeros((0, 4)),
        "one": np.array(7),
        "one byte": np.array([7], dtype=np.int8),
        "text": np.array(["dog", "cat"]),
        "big": np.arange(3, dtype=">i4"),
    }
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    found, _ = read_npz(SourceFile("a.npz", "a.npz", buffer.getvalue()))
    assert {name: value.tolist() for name, value in found.items()} == {k: v.tolist() for k, v in arrays.items()}


@pytest.mark.parametrize(
    ("bomb", "message"),
    [
        (b"\x80\x02]r\xff\xff\xff\x7f.", "the place 2,147,483,647 of the memo"),
        (b"\x80\x02X\x00\x01\x00\x00" + b"a" * 256 + b"q\x00" + b"h\x000" * 100 + b".", "used several times"),
        (b"\x80\x02]" + b"2" * 50 + b".", "used several times"),
        (b"\x80\x02c__builtin__\nlist\nq\x00(K\x01K\x02t\x85R.", "a list made of something"),
        (b"\x80\x05\x96" + b"\xff" * 7 + b"\x00.", "expected a pickle"),
    ],
)
def test_pickles_that_make_much_of_little_are_refused(bomb: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_legacy_pickle(SourceFile("graph", "graph", bomb))


@pytest.mark.parametrize("lists", [{0: [None]}, {0: 1}, {0: [-1]}, {0: [2**70]}, {0: []}, {"a": ["b"]}, {0: [[1]]}])
def test_neighbours_that_are_no_node_numbers_are_refused(lists: object) -> None:
    labels = np.eye(2, dtype=np.int32)
    files = {name: pickle.dumps(labels, protocol=2) for name in ("y", "ty", "ally")}
    files |= {"graph": pickle.dumps(lists, protocol=2), "test.index": b"2\n3\n"}
    with pytest.raises(ValueError, match="graph: expected lists of neighbours, got"):
        read_planetoid("toy", {name: SourceFile(name, name, content) for name, content in files.items()})


@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 100_000, "1" * 5000])
def test_deep_json_is_an_error_of_json(text: str) -> None:
    with pytest.raises(json.JSONDecodeError):
        parse_json(text)
