"""One process at a time writes to a run: a lock that says who holds it, and that dies with its holder."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from threading import get_ident
from typing import IO

try:
    import fcntl
except ImportError:  # not on every system
    fcntl = None  # type: ignore[assignment]

LOCK = ".lock"
#: Folders that a thread of this process has locked, by device and number: they may move while they are.
_held: dict[tuple[int, int], int] = {}


@contextmanager
def locked(folder: Path, what: str = "run", doing: str = "trained") -> Iterator[None]:
    """While the block runs, no other process and no other thread may lock the folder; this thread may, again.

    The operating system keeps the lock and drops it when its holder dies. Where it has none to give, the process in the
    file counts, if it runs on this machine.

    Args:
        folder: to lock.
        what: it holds, and ``doing`` what is done with it, for the message.

    Raises:
        ValueError: if another one holds it, with who it is; nothing is written then.
    """
    status = os.stat(folder)
    key = (status.st_dev, status.st_ino)
    if _held.get(key) == get_ident():
        yield
        return
    path = folder / LOCK
    with _acquire(path, what, doing) as file:
        _held[key] = get_ident()
        try:
            about = {"pid": os.getpid(), "host": socket.gethostname(), "since": f"{datetime.now():%Y-%m-%d %H:%M:%S}"}
            file.truncate()
            file.write(json.dumps(about))
            file.flush()
            yield
        finally:
            del _held[key]
            # Unlinked while it is held: whoever waits with the old file open sees that it is no longer the one here.
            with suppress(OSError):
                if os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                    path.unlink()


def refuse_locked(folder: Path) -> None:
    """Raise what :func:`locked` would, where a lock is held."""
    if (folder / LOCK).exists():
        with locked(folder):
            pass


def _acquire(path: Path, what: str, doing: str) -> IO[str]:
    while True:
        file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o644), "r+", encoding="utf-8")
        try:
            if not _lock(file, path):
                raise _refusal(path, what, doing)
            if os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                return file
        except FileNotFoundError:  # its holder has just left, or a new run has taken the folder's place
            pass
        except BaseException:
            file.close()
            raise
        file.close()


def _lock(file: IO[str], path: Path) -> bool:
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            return False
        except OSError:  # a file system without locks
            pass
    holder = _holder(path)
    if not holder:
        return True
    return holder.get("host") == socket.gethostname() and not _is_alive(holder.get("pid"))


def _is_alive(pid: object) -> bool:
    if os.name == "nt" or not isinstance(pid, int):  # there, signal 0 is no question
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # somebody else's
        return True
    return True


def _holder(path: Path) -> dict[str, object]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # it is being written
        return {}
    return content if isinstance(content, dict) else {}


def _refusal(path: Path, what: str, doing: str) -> ValueError:
    holder = _holder(path)
    who = f"process {holder.get('pid')} on {holder.get('host')} since {holder.get('since')}" if holder else "another"
    return ValueError(
        f"expected a {what} that nobody else works on, but {str(path.parent)!r} is being {doing} by {who}; wait for "
        f"it, stop it, or choose another --out (if it is gone for certain, remove {str(path)!r})"
    )
