"""A folder that appears complete, or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hybonet.files import flush, naming
from hybonet.training.lock import LOCK, locked


def check_unused(out: Path) -> None:
    """Raise a ``ValueError`` unless there is nothing at ``out``, or an empty folder.

    Example:
        >>> check_unused(Path(__file__))
        Traceback (most recent call last):
        ValueError: expected a new or empty folder, got the file ...
    """
    if out.exists() and not out.is_dir():
        raise ValueError(f"expected a new or empty folder, got the file {str(out)!r}; choose another place")
    if out.exists() and set(out.iterdir()) - set(unfinished(out)):
        raise ValueError(f"expected a new or empty folder, but {str(out)!r} holds files; choose another place")


@contextmanager
def new_folder(out: Path, check: Callable[[], None] | None = None, *, last: str = "") -> Iterator[Path]:
    """A folder to write into; it becomes ``out`` when the block ends, and vanishes if the block fails.

    Args:
        check: raises a ``ValueError`` if ``out`` may not be written, or replaced; by default it must be unused.
        last: the file that makes the folder complete. Where ``out`` itself cannot be exchanged for another folder, its
            files are, and this one comes last.

    Example:
        >>> import tempfile
        >>> place = Path(tempfile.mkdtemp()) / "new"
        >>> with new_folder(place) as staging:
        ...     written = (staging / "one").write_text("1")
        >>> [path.name for path in place.iterdir()]
        ['one']
    """
    given, out = out, out.resolve()
    check = check or (lambda: check_unused(given))
    check()
    missing = [folder for folder in (out.parent, *out.parent.parents) if not folder.exists()]
    beside = _can_be_exchanged(out)
    staging = (out.parent if beside else out) / f".{out.name}.{os.getpid()}.partial"
    try:
        with naming(out):
            staging.mkdir(parents=True)
            yield staging
            for path in (*staging.rglob("*"), staging):
                flush(path)
        _put_in_place(staging, out, check, last if not beside else None)
    except BaseException:  # an interrupt, too, must leave nothing behind
        shutil.rmtree(staging, ignore_errors=True)
        with suppress(OSError):  # a folder that is in use by now stays
            for folder in missing:
                folder.rmdir()
        raise
    flush(out.parent)


def unfinished(out: Path) -> list[Path]:
    """What a start that was killed half-way, or another that is under way, has left inside ``out``."""
    return [entry for entry in out.glob(".*") if entry.name == LOCK or (entry.suffix == ".partial" and entry.is_dir())]


def _can_be_exchanged(out: Path) -> bool:
    """Whether another folder can take the place of ``out``: not of a mounted volume, nor of the folder we stand in."""
    if not out.exists():
        return True
    return not os.path.ismount(out) and not out.samefile(Path.cwd()) and os.access(out.parent, os.W_OK)


def _put_in_place(staging: Path, out: Path, check: Callable[[], None], last: str | None) -> None:
    """Others may start there, too: one of them wins, and what is being trained stays."""
    if not out.exists():
        try:
            staging.rename(out)
        except OSError:
            check()
            raise
        return
    with locked(out):
        check()  # somebody may have written there in the meantime
        if last is None:
            _exchange(staging, out)
        else:
            _move_up(staging, out, last)


def _exchange(staging: Path, out: Path) -> None:
    """Rename the finished folder; what it replaces goes only after that."""
    retired = staging.with_suffix(".replaced")
    out.rename(retired)
    try:
        staging.rename(out)
    except OSError:
        retired.rename(out)
        raise
    shutil.rmtree(retired)


def _move_up(staging: Path, out: Path, last: str) -> None:
    """Put the finished files in place of the earlier ones."""
    for earlier in sorted(out.iterdir(), key=lambda entry: entry.name != last):
        if earlier.name == LOCK:  # it is ours
            continue
        if earlier.is_file():
            earlier.unlink()
        elif earlier != staging:
            shutil.rmtree(earlier)
    for entry in sorted(staging.iterdir(), key=lambda entry: entry.name == last):
        entry.rename(out / entry.name)
    staging.rmdir()


@contextmanager
def replaced(out: Path) -> Iterator[Path]:
    """A place beside a file or a saved model to write its successor to, which takes its place when the block ends.

    Example:
        >>> import tempfile
        >>> out = Path(tempfile.mkdtemp()) / "vectors.tsv"
        >>> _ = out.write_text("old")
        >>> with replaced(out) as place:
        ...     _ = place.write_text("new")
        >>> out.read_text()
        'new'
    """
    config = out / "config.json"
    saved = config.is_file() and '"library_name"' in config.read_text("utf-8")
    exported = saved or (out / "training_triples").exists()
    if out.is_dir() and any(out.iterdir()) and not exported:
        raise ValueError(
            f"expected an exported model to replace, but {str(out)!r} holds other files; choose another --output"
        )
    with tempfile.TemporaryDirectory(prefix=f".{out.name}.", suffix=".partial", dir=out.parent) as beside:
        place = Path(beside) / out.name
        yield place
        if out.is_dir():
            out.rename(Path(beside) / f"{out.name}.before")
        place.replace(out)
