"""One data file read into memory, unpacked if its name ends in .gz or .xz, with its checksum."""

from __future__ import annotations

import gzip
import hashlib
import io
import lzma
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePath

from hybonet.data.io.limits import check_size, most_unpacked

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


def read_checked(path: Path, sha256: str, remedy: str = "get it again, or load its folder by path") -> SourceFile:
    """Read a published file, and raise a ``ValueError`` if its content, unpacked, is another.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "animals.tsv"
        >>> _ = path.write_bytes(b"cat")
        >>> read_checked(path, "cd6357ef")
        Traceback (most recent call last):
        ValueError: .../animals.tsv: expected a file with sha256 cd6357ef, got 77af778b...; the file was changed or ...
    """
    file = read_source(path)
    if file.sha256 != sha256:
        raise ValueError(
            f"{path}: expected a file with sha256 {sha256}, got {file.sha256}; the file was changed or damaged: "
            f"{remedy}"
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
