"""Every moment of a training at which something can be done to it: writes, flushes, renames, batches, validations."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hybonet.tasks.run import Run
from hybonet.training import Trainer, loop

#: Moments at which something is written.
WRITES = ("write", "flush", "rename", "history")


class Moments:
    """Counts moments of the kinds that it is told of, and does harm at one of them.

    Args:
        at: the number of the moment, from 1; 0 only counts.
        kinds: which count; all by default.
        harm: ``kill``, ``stop`` (as a process that hangs) or ``full`` (a disk that stays full from then on).
        tell: is told the kind before a kill.
    """

    def __init__(
        self,
        at: int = 0,
        kinds: tuple[str, ...] = (),
        harm: str = "kill",
        tell: Callable[[str], None] = lambda said: None,
    ) -> None:
        self.at, self.kinds, self.harm, self.tell, self.count = at, kinds, harm, tell, 0

    def install(self) -> None:
        """Be told of everything that happens in this process from now on."""
        for name in ("write_bytes", "write_text"):
            setattr(Path, name, self._halves(name, getattr(Path, name)))
        os.fsync = self._before("flush", os.fsync)  # type: ignore[assignment]
        os.replace = self._before("rename", os.replace)  # type: ignore[assignment]
        loop.append_to_history = self._half_a_line(loop.append_to_history)
        Trainer._validate = self._before("validation", Trainer._validate)  # type: ignore[method-assign]
        Trainer._forward_backward = self._before("batch", Trainer._forward_backward)  # type: ignore[method-assign]
        Trainer._result = self._before("the last evaluation", Trainer._result)  # type: ignore[method-assign]
        Run._write_record = self._before("before the record", Run._write_record)  # type: ignore[method-assign]

    def hit(self, kind: str, first: Callable[[], object] = lambda: None) -> None:
        """A moment: perhaps the one. ``first`` is done before the harm, such as half of a write."""
        if self.kinds and kind not in self.kinds:
            return
        self.count += 1
        full = self.harm == "full"
        if not self.at or (self.count < self.at if full else self.count != self.at):
            return
        first()
        if full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.tell(kind)
        os.kill(os.getpid(), signal.SIGKILL if self.harm == "kill" else signal.SIGSTOP)

    def _before(self, kind: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def told(*arguments: Any, **options: Any) -> Any:
            self.hit(kind)
            return call(*arguments, **options)

        return told

    def _halves(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def told(path: Path, content: Any, *arguments: Any, **options: Any) -> Any:
            self.hit("write", lambda: call(path, content[: len(content) // 2], *arguments, **options))
            return call(path, content, *arguments, **options)

        return told

    def _half_a_line(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def told(folder: Path, row: dict[str, Any]) -> None:
            def half() -> None:
                with open(folder / loop.HISTORY, "a", encoding="utf-8") as file:
                    file.write('{"epoch": ')

            self.hit("history", half)
            call(folder, row)

        return told
