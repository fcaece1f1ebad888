"""A folder that appears complete, or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def check_unused(out: Path) -> None:
    """Raise a ``ValueError`` unless there is nothing at ``out``, or an empty folder.

    Example:
        >>> check_unused(Path(__file__))
        Traceback (most recent call last):
        ValueError: expected a new or empty folder, got the file ...
    """
    if out.exists() and not out.is_dir():
        raise ValueError(f"expected a new or empty folder, got the file {str(out)!r}; choose another place")
    if out.exists() and any(out.iterdir()):
        raise ValueError(f"expected a new or empty folder, but {str(out)!r} holds files; choose another place")


@contextmanager
def new_folder(out: Path, check: Callable[[Path], None] = check_unused) -> Iterator[Path]:
    """A folder to write into; it becomes ``out`` when the block ends, and vanishes if the block fails.

    Args:
        out: an absolute path.
        check: raises a ``ValueError`` if ``out`` may not be written, or replaced.

    Example:
        >>> import tempfile
        >>> place = Path(tempfile.mkdtemp()) / "new"
        >>> with new_folder(place) as staging:
        ...     written = (staging / "one").write_text("1")
        >>> [path.name for path in place.iterdir()]
        ['one']
    """
    check(out)
    missing = [folder for folder in (out.parent, *out.parent.parents) if not folder.exists()]
    staging = out.parent / f".{out.name}.{os.getpid()}.partial"
    try:
        staging.mkdir(parents=True)
        yield staging
        check(out)  # somebody may have written there in the meantime
        _put_in_place(staging, out)
    except BaseException:  # an interrupt, too, must leave nothing behind
        shutil.rmtree(staging, ignore_errors=True)
        with suppress(OSError):  # a folder that is in use by now stays
            for folder in missing:
                folder.rmdir()
        raise


def _put_in_place(staging: Path, out: Path) -> None:
    """Rename the finished folder; what it replaces goes only after that."""
    if not out.exists():
        staging.rename(out)
        return
    retired = staging.with_suffix(".replaced")
    out.rename(retired)
    try:
        staging.rename(out)
    except OSError:
        retired.rename(out)
        raise
    shutil.rmtree(retired)
