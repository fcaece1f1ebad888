"""Work in a process of its own, which may be killed."""

from __future__ import annotations

import os
import pickle
import select
import signal
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal


@dataclass(frozen=True)
class Outcome:
    """How it ended: ``refused`` by a ``ValueError`` or ``OSError``, ``broken`` by another, ``killed`` or ``hung``.

    ``aborted`` is a library that gave up (SIGABRT), not something that was done to it.
    """

    kind: Literal["done", "refused", "broken", "killed", "aborted", "hung"]
    value: Any = None
    #: The file that an ``OSError`` names.
    file: str | None = None


class Child:
    """A forked process; ``work`` is called with a function that tells the parent something before the end.

    Example:
        >>> Child(lambda tell: 6 * 7).wait()
        Outcome(kind='done', value=42, file=None)
        >>> Child(lambda tell: int("x")).wait().kind
        'refused'
    """

    def __init__(
        self, work: Callable[[Callable[[str], None]], Any], environment: Mapping[str, str] | None = None
    ) -> None:
        self._read, write = os.pipe()
        self.pid = os.fork()
        if self.pid:
            os.close(write)
            return
        try:
            os.close(self._read)
            silence = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(silence, stream)
            os.environ.update(environment or {})
            answer = _outcome(work, lambda said: _send(write, Outcome("killed", said)))
            _send(write, answer)
        finally:
            os._exit(0)

    def wait(self, seconds: float = 300.0) -> Outcome:
        """Its outcome; after so many seconds it is killed."""
        content, until = b"", time.monotonic() + seconds
        while select.select([self._read], [], [], max(0.0, until - time.monotonic()))[0]:
            piece = os.read(self._read, 1 << 16)
            content += piece
            if not piece:
                break
        else:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            os.close(self._read)
            return Outcome("hung", _last(content).value if content else None)
        os.close(self._read)
        _, status = os.waitpid(self.pid, 0)
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGABRT:
            return Outcome("aborted")
        return _last(content) if content else Outcome("killed")


def _outcome(work: Callable[[Callable[[str], None]], Any], tell: Callable[[str], None]) -> Outcome:
    try:
        return Outcome("done", work(tell))
    except OSError as error:
        return Outcome("refused", str(error), None if error.filename is None else str(Path(error.filename)))
    except ValueError as error:
        return Outcome("refused", str(error))
    except BaseException:
        return Outcome("broken", traceback.format_exc()[-2000:])


def _send(number: int, outcome: Outcome) -> None:
    content = pickle.dumps(outcome)
    content = len(content).to_bytes(8, "little") + content
    while content:
        content = content[os.write(number, content) :]


def _last(content: bytes) -> Outcome:
    found = Outcome("killed")
    while len(content) >= 8 and len(content) >= (end := 8 + int.from_bytes(content[:8], "little")):
        found, content = pickle.loads(content[8:end]), content[end:]
    return found
