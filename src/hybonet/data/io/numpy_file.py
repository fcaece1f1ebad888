"""Arrays of .npy and .npz files, whose headers are compared with what is there before anything is allocated."""

from __future__ import annotations

import io
import lzma
import math
import tokenize
import zipfile
import zlib
from collections.abc import Collection
from typing import IO

import numpy as np
from numpy.lib import format as layout
from numpy.typing import NDArray

from hybonet.data.io.source_file import SourceFile, check_size

#: numpy reads a header as a literal of Python, and zipfile whatever its directory says.
_WRONG = (
    ValueError,
    TypeError,
    OSError,
    EOFError,
    KeyError,
    SyntaxError,
    MemoryError,
    RuntimeError,
    lzma.LZMAError,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)


def read_npy(file: SourceFile) -> NDArray:
    """The array of an .npy file."""
    try:
        return _array(io.BytesIO(file.content), len(file.content))
    except _WRONG as error:
        raise ValueError(
            f"{file.source}: expected a numpy array, got other data ({first_line(error)}); write it with numpy.save"
        ) from None


def read_npz(file: SourceFile, names: Collection[str] | None = None) -> tuple[dict[str, NDArray], list[str]]:
    """Arrays of an .npz file by name, all or those of ``names``, and the names of all that it has."""
    try:
        with zipfile.ZipFile(io.BytesIO(file.content)) as stored:
            members = {each.filename.removesuffix(".npy"): each for each in stored.infolist()}
            unpacked = sum(each.file_size for each in stored.infolist())
            if unpacked > len(file.content):
                check_size(file.source, unpacked, len(file.content))
            wanted = [name for name in members if names is None or name in names]
            arrays = {}
            for name in wanted:
                with stored.open(members[name]) as member:
                    arrays[name] = _array(member, members[name].file_size)
            return arrays, list(members)
    except _WRONG as error:
        text = first_line(error)
        if text.startswith(f"{file.source}: "):  # it is too large
            raise
        raise ValueError(
            f"{file.source}: expected an .npz of numbers and text, got other data ({text}); write it with numpy.savez"
        ) from None


def _array(stored: IO[bytes], size: int) -> NDArray:
    version = layout.read_magic(stored)
    readers = {(1, 0): layout.read_array_header_1_0, (2, 0): layout.read_array_header_2_0}
    if version not in readers:
        raise ValueError(f"version {version} of the format")
    shape, column_major, number_type = readers[version](stored)
    if number_type.hasobject:
        raise ValueError("it has Python objects")
    wanted = math.prod(shape) * number_type.itemsize
    if min(shape, default=0) < 0 or wanted > size:
        raise ValueError(f"a header that promises an array of shape {shape}, where {size:,} bytes are")
    content = stored.read(wanted)
    if len(content) < wanted:
        raise ValueError(f"{len(content):,} bytes of {wanted:,}")
    if wanted == 0:
        return np.zeros(shape, number_type)
    return np.frombuffer(content, number_type).reshape(shape, order="F" if column_major else "C").copy()


def first_line(error: BaseException) -> str:
    """The first line of what an error says, or its name."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
