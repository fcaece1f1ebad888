"""One data file read into memory, unpacked if its name ends in .gz or .xz, with its checksum; how much it may hold."""

from __future__ import annotations

import gzip
import hashlib
import io
import lzma
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePath

_BYTES, _RATIO = "HYBONET_MAX_BYTES", "HYBONET_MAX_RATIO"
_DEFAULT_BYTES, _DEFAULT_RATIO = 8e9, 100.0
#: What is smaller than this when it is unpacked may be packed as tightly as can be.
_SMALL = 64_000_000


def max_bytes() -> int:
    """The most bytes that a file may have, unpacked: 8 GB, or what ``HYBONET_MAX_BYTES`` of the environment says."""
    return int(_number(_BYTES, _DEFAULT_BYTES))


def most_unpacked(packed: int) -> int:
    """The most bytes that so many packed ones may become: a hundred times as many (``HYBONET_MAX_RATIO``), or 64 MB."""
    return min(max_bytes(), max(_SMALL, int(packed * _number(_RATIO, _DEFAULT_RATIO))))


def check_size(source: str, size: int, packed: int | None = None) -> None:
    """Raise a ``ValueError`` if a file holds more than it may, unpacked; ``packed`` is its size on disk, if it is less.

    Example:
        >>> check_size("big.tsv", 9 * 10**9)
        Traceback (most recent call last):
        ValueError: big.tsv: expected at most 8,000,000,000 bytes, got 9,000,000,000; ...
        >>> check_size("bomb.npz", 10**9, packed=1000)
        Traceback (most recent call last):
        ValueError: bomb.npz: expected at most 64,000,000 bytes unpacked from 1,000, got 1,000,000,000 or more; ...
    """
    most = max_bytes() if packed is None else most_unpacked(packed)
    if size <= most:
        return
    whole = most == max_bytes()
    unpacked = "" if packed is None else f" unpacked from {packed:,}"
    more = "" if packed is None else " or more"
    raise ValueError(
        f"{source}: expected at most {most:,} bytes{unpacked}, got {size:,}{more}; if you trust the file, set the "
        f"environment variable {_BYTES if whole else _RATIO} higher"
    )


def _number(name: str, default: float) -> float:
    given = os.environ.get(name, "")
    try:
        value = float(given or default)
    except ValueError:
        value = -1.0
    if not 0 < value < 1e18:
        raise ValueError(f"expected a positive number in the environment variable {name}, got {given!r}; correct it")
    return value


#: What the parts of data may be called.
SPLIT_NAMES = {
    "train": ("train", "training"),
    "valid": ("valid", "validation", "val", "dev"),
    "test": ("test", "testing"),
}
_PIECE = 1 << 20
#: The most memory for a dictionary of xz; its strongest usual setting takes 65 MB.
_XZ_MEMORY = 1 << 28


def _of_gzip(content: bytes) -> Iterator[bytes]:
    with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
        while piece := stream.read(_PIECE):
            yield piece


def _of_xz(content: bytes) -> Iterator[bytes]:
    """Piece by piece; streams may follow one another."""
    first = True
    while content:
        unpacking = lzma.LZMADecompressor(memlimit=_XZ_MEMORY)
        try:
            while not unpacking.eof:
                piece = unpacking.decompress(content, _PIECE)
                content = b""
                if not piece and unpacking.needs_input and not unpacking.eof:
                    raise EOFError("it ends too early")
                yield piece
        except lzma.LZMAError:
            if first:
                raise
            return  # what follows the last stream is no part of it
        first, content = False, unpacking.unused_data
    if first:
        raise EOFError("it is empty")


_UNPACK: dict[str, Callable[[bytes], Iterator[bytes]]] = {".gz": _of_gzip, ".xz": _of_xz}
#: Endings of packed files.
PACKED = tuple(_UNPACK)


@dataclass(frozen=True)
class SourceFile:
    """A file's name for messages, its name without `.gz` or `.xz`, and its unpacked content."""

    source: str
    bare_name: str
    content: bytes = field(repr=False)

    @cached_property
    def sha256(self) -> str:
        """Checksum of the unpacked content, so that packing a file does not change it."""
        return hashlib.sha256(self.content).hexdigest()


def read_source(path: str | Path) -> SourceFile:
    """Read a file, unpacking gzip and xz."""
    path = Path(path)
    if not path.is_file():
        what = "a folder" if path.is_dir() else "not there"
        raise ValueError(f"expected a file, got {str(path)!r}, which is {what}; check the path")
    check_size(str(path), path.stat().st_size)
    return unpack(str(path), path.read_bytes())


def find_packed(folder: Path, name: str) -> Path | None:
    """A file of a folder, as it is or packed; None if it is not there."""
    candidates = (folder / (name + packing) for packing in ("", *PACKED))
    return next((path for path in candidates if path.is_file()), None)


def split_files(folder: Path, endings: Iterable[str]) -> dict[str, Path]:
    """The files of a folder that are called after a part, such as ``train.txt`` or ``Dev.csv.gz``, by part."""
    every = [ending + packed for ending in endings for packed in ("", *PACKED)]
    found: dict[str, Path] = {}
    for split, names in SPLIT_NAMES.items():
        wanted = {name + ending for name in names for ending in every}
        present = [path for path in sorted(folder.iterdir()) if path.name.lower() in wanted and path.is_file()]
        if len(present) > 1:
            listed = ", ".join(path.name for path in present)
            raise ValueError(f"{folder}: expected one file for {split}, got {listed}; move all but one elsewhere")
        if present:
            found[split] = present[0]
    return found


def read_checked(path: Path, sha256: str) -> SourceFile:
    """Read a published file, and raise a ``ValueError`` if its content, unpacked, is another."""
    file = read_source(path)
    if file.sha256 != sha256:
        raise ValueError(
            f"{path}: expected a file with sha256 {sha256}, got {file.sha256}; the file was changed or damaged: "
            "get it again, or load its folder by path"
        )
    return file


def bare_name(source: str) -> str:
    """A file's name without folder and packing."""
    path = PurePath(source)
    return path.stem if path.suffix.lower() in _UNPACK else path.name


def unpack(source: str, content: bytes) -> SourceFile:
    """A file's content, unpacked as its name says."""
    name = PurePath(source).name
    suffix = PurePath(source).suffix.lower()
    if suffix not in _UNPACK:
        return SourceFile(source, name, content)
    try:
        unpacked = bytearray()
        for piece in _UNPACK[suffix](content):
            unpacked += piece
            if len(unpacked) > most_unpacked(len(content)):
                check_size(source, len(unpacked), len(content))
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise ValueError(
            f"{source}: expected {suffix.removeprefix('.')} data, got a damaged or mislabelled file ({error}); "
            "fetch it again, or give it the ending that says how it is packed"
        ) from None
    return SourceFile(source, name[: -len(suffix)], bytes(unpacked))
