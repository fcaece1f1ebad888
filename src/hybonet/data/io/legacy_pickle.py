"""Old pickles of arrays, sparse matrices and graphs, read without running anything that they name.

A pickle may name any function for its reader to call. Here a name is looked up in a short list of stand-ins of our own,
which only collect values; every other name is refused before anything is called. Neither scipy nor networkx is needed.
"""

from __future__ import annotations

import io
import math
import pickle
import pickletools
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from hybonet.data.io.source_file import SourceFile

#: Kinds of numpy types that hold plain numbers: truth values, integers and floats.
_NUMBER_KINDS = "biuf"
#: Longer texts are raw numbers, of which each array has its own.
_LONG = 64


class SparseRows:
    """Stands in for ``scipy.sparse.csr_matrix``; :attr:`state` has its arrays by name."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.state = {key: _plain(value) for key, value in state.items()}


class NetworkxGraph:
    """Stands in for ``networkx.Graph``; :attr:`state` has ``_node`` and ``_adj``."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.state = state


class _Ignored:
    """Stands in for classes whose content is not needed."""

    def __setstate__(self, state: Any) -> None:
        pass


class _NumberType:
    """Stands in for ``numpy.dtype``."""

    def __init__(self, code: str, *_: Any) -> None:
        self.code = code
        self.byte_order: Literal["<", ">", "="] = "="

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.byte_order = ">" if state[1] == ">" else "<" if state[1] == "<" else "="

    def resolve(self) -> np.dtype[Any]:
        resolved = np.dtype(self.code).newbyteorder(self.byte_order)
        if resolved.kind not in _NUMBER_KINDS:
            raise pickle.UnpicklingError(f"an array of {resolved}, where only numbers are read")
        return resolved


class _Array:
    """Stands in for ``numpy.ndarray``: the raw numbers, checked against the shape before use."""

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, number_type, column_major, raw = state
        resolved = number_type.resolve()
        content = raw.encode("latin1") if isinstance(raw, str) else raw
        if math.prod(shape) * resolved.itemsize != len(content):
            raise pickle.UnpicklingError(f"an array of shape {shape} with {len(content)} bytes")
        self.value = np.frombuffer(content, resolved).reshape(shape, order="F" if column_major else "C")


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, _Array) else value


def _bytes_of(text: str, encoding: str) -> bytes:
    """How Python 3 writes bytes for Python 2."""
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"text in the encoding {encoding!r}, where only latin1 is read")
    return text.encode("latin1")


def _new_dict(*of: Any) -> dict[Any, Any]:
    """A dictionary, of lists by default or not: what it holds comes later."""
    if any(each not in (_new_list, _new_dict) for each in of):
        raise pickle.UnpicklingError("a dictionary made of something")
    return {}


def _new_list(*of: Any) -> list[Any]:
    if of:
        raise pickle.UnpicklingError("a list made of something")
    return []


_ALLOWED: dict[tuple[str, str], Callable[..., Any]] = {
    **{(module, "_reconstruct"): lambda *_: _Array() for module in ("numpy.core.multiarray", "numpy._core.multiarray")},
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _NumberType,
    **{(f"scipy.sparse.{module}", "csr_matrix"): SparseRows for module in ("csr", "_csr")},
    ("networkx.classes.graph", "Graph"): NetworkxGraph,
    ("networkx.classes.reportviews", "NodeView"): _Ignored,
    ("_codecs", "encode"): _bytes_of,
    ("collections", "defaultdict"): _new_dict,
    **{(module, "dict"): _new_dict for module in ("builtins", "__builtin__")},
    **{(module, "list"): _new_list for module in ("builtins", "__builtin__")},
}


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(f"the name {module}.{name}, which is not on the list of those read")
        return _ALLOWED[module, name]


def _refuse_bombs(content: bytes) -> None:
    """Raise if a few bytes would make many: by places of the memo far beyond the file, or a long text used again.

    Operations name their sizes, and those beyond the end of the file are refused on the way.
    """
    long_texts: set[int] = set()
    place, last_is_long = -1, False
    for operation, argument, _ in pickletools.genops(content):
        name = operation.name
        if name in ("PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"):
            place = place + 1 if name == "MEMOIZE" else int(argument)  # type: ignore[arg-type]
            if place > len(content):
                raise pickle.UnpicklingError(f"the place {place:,} of the memo in {len(content):,} bytes")
            (long_texts.add if last_is_long else long_texts.discard)(place)
        elif name in ("GET", "BINGET", "LONG_BINGET") and int(argument) in long_texts:  # type: ignore[arg-type]
            raise pickle.UnpicklingError("a long text that is used several times")
        last_is_long = isinstance(argument, str | bytes | bytearray) and len(argument) > _LONG
        if name == "DUP":
            raise pickle.UnpicklingError("a value that is used several times")


def read_legacy_pickle(file: SourceFile) -> Any:
    """The content of a pickle: numbers, lists, dicts, numpy arrays, :class:`SparseRows` or :class:`NetworkxGraph`.

    Example:
        >>> read_legacy_pickle(SourceFile("graph", "graph", pickle.dumps({0: [1], 1: [0]})))
        {0: [1], 1: [0]}
        >>> read_legacy_pickle(SourceFile("graph", "graph", pickle.dumps(print)))
        Traceback (most recent call last):
        ValueError: graph: expected a pickle of arrays or a graph, got the name builtins.print, which is not on ...
    """
    try:
        _refuse_bombs(file.content)
        return _plain(_Reader(io.BytesIO(file.content), encoding="latin1").load())
    # A damaged pickle can fail in whatever way its garbage leads to.
    except (
        pickle.UnpicklingError,
        EOFError,
        ValueError,
        TypeError,
        KeyError,
        IndexError,
        AttributeError,
        OverflowError,
        MemoryError,
    ) as error:
        what = str(error) if isinstance(error, pickle.UnpicklingError) else f"damaged data ({error})"
        raise ValueError(
            f"{file.source}: expected a pickle of arrays or a graph, got {what}; nothing of it was run: get the file "
            "from its publisher, or bring the graph as edges and tables"
        ) from None
