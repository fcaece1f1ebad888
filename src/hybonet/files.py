"""Files written whole or not at all, and known again by their checksums."""

from __future__ import annotations

import hashlib
import json
import operator
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

_PIECE = 1 << 20
#: Under this name, a JSON object says the checksum of all its other content.
SEAL, _HEX_DIGITS = "sha256", 64
#: What a formula of a spreadsheet begins with.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Call ``write(temporary_path)``, flush it to disk and rename: a reader or a crash sees the old file or the new.

    A full or vanished disk is an ``OSError`` that names ``path``.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_atomically(Path(folder) / "note.txt", lambda target: target.write_text("whole"))
        ...     (Path(folder) / "note.txt").read_text(), os.listdir(folder)
        ('whole', ['note.txt'])
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with naming(path, temporary):
            write(temporary)
            flush(temporary)
            os.replace(temporary, path)
            flush(path.parent)
    finally:
        with suppress(OSError):  # of a disk that is gone, nothing can be removed
            temporary.unlink(missing_ok=True)


@contextmanager
def naming(path: Path, *temporary: Path) -> Iterator[None]:
    """An ``OSError`` of the block that names no file, or one of the temporary ones, names ``path``.

    Example:
        >>> with naming(Path("runs/kg/model.safetensors")):
        ...     raise OSError(28, "No space left on device")
        Traceback (most recent call last):
        OSError: [Errno 28] No space left on device: 'runs/kg/model.safetensors'
    """
    try:
        yield
    except OSError as error:
        if error.errno is None or (error.filename is not None and Path(error.filename) not in temporary):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def flush(path: Path) -> None:
    """What a file holds, or which files a folder has, is on disk when this returns, as far as the system can say."""
    if os.name == "nt" and path.is_dir():  # there, folders cannot be opened
        return
    number = os.open(path, os.O_RDONLY)
    try:
        with naming(path):
            os.fsync(number)
    finally:
        os.close(number)


def sha256_of(path: str | Path) -> str:
    """Checksum of a file as it lies on disk.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "dog.txt"
        >>> _ = path.write_text("dog")
        >>> sha256_of(path)[:8]
        'cd6357ef'
    """
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()


def without_formula(cell: Any) -> Any:
    """A cell of CSV that no spreadsheet takes for a formula; numbers stay as they are.

    Example:
        >>> without_formula("=1+1"), without_formula("dog"), without_formula(-0.5)
        ("'=1+1", 'dog', -0.5)
    """
    return f"'{cell}" if isinstance(cell, str) and cell.lstrip(" ").startswith(_FORMULA) else cell


def parse_json(text: str) -> Any:
    """A value of JSON; whatever is wrong with the text is a ``json.JSONDecodeError``.

    Example:
        >>> parse_json("[" * 100_000)
        Traceback (most recent call last):
        json.decoder.JSONDecodeError: nested too deeply: line 1 column 1 (char 0)
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise
    except RecursionError:
        raise json.JSONDecodeError("nested too deeply", text, 0) from None
    except ValueError as error:  # an integer of thousands of digits
        raise json.JSONDecodeError(str(error).partition(";")[0], text, 0) from None


def flat(content: Mapping[str, Any], joint: str = ".", before: str = "") -> Iterator[tuple[str, Any]]:
    """Names and values of nested mappings, the names on the way to a value joined.

    Example:
        >>> dict(flat({"schedule": {"kind": "cosine"}, "epochs": 3}))
        {'schedule.kind': 'cosine', 'epochs': 3}
    """
    for name, value in content.items():
        if isinstance(value, Mapping):
            yield from flat(value, joint, f"{before}{name}{joint}")
        else:
            yield f"{before}{name}", value


def sealed(content: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON object with the checksum of its content in it.

    Example:
        >>> sealed({"dim": 32})["sha256"][:8]
        'd49760f4'
        >>> unsealed(sealed({"dim": 32}), "config.json")
        {'dim': 32}
        >>> unsealed({**sealed({"dim": 32}), "dim": 33}, "config.json")
        Traceback (most recent call last):
        ValueError: config.json: expected the content that its sha256 is of, but it was changed or damaged since; ...
    """
    return {**content, SEAL: _content_sha256(content)}


def unsealed(content: dict[str, Any], source: object) -> dict[str, Any]:
    """What was sealed, or a ``ValueError`` if it has changed since; what was never sealed is as it is."""
    plain = {name: value for name, value in content.items() if name != SEAL}
    if content[SEAL] != _content_sha256(plain) if SEAL in content else _has_other_seal(content):
        raise ValueError(
            f"{source}: expected the content that its {SEAL} is of, but it was changed or damaged since; restore it, "
            f"or take out its line {SEAL!r} if you changed it yourself"
        )
    return plain


def _has_other_seal(content: Mapping[str, Any]) -> bool:
    """Whether the name of the checksum is damaged: a value as long stands under a name that is nearly the same, or is
    the checksum of all the rest.
    """
    return any(
        sum(map(operator.eq, name, SEAL)) >= len(SEAL) / 2
        or value == _content_sha256({other: each for other, each in content.items() if other != name})
        for name, value in content.items()
        if isinstance(value, str) and len(value) == _HEX_DIGITS
    )


def _content_sha256(content: Mapping[str, Any]) -> str:
    """Of the content as a reader of JSON has it, whatever its layout."""
    text = json.dumps(json.loads(json.dumps(content)), sort_keys=True)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
