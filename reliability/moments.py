"""Every moment of a training at which something can be done to it, from a write to an operation of an evaluation."""

from __future__ import annotations

import errno
import os
import signal
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode

from hybonet.tasks.run import Run
from hybonet.training import Trainer, history
from hybonet.training.processes import Processes, is_main_process

#: Moments at which something is written.
WRITES = ("write", "flush", "rename", "history")
_EVALUATING = "in the last evaluation"


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
        self.at, self.kinds, self.harm, self.tell = at, kinds, harm, tell
        self.counts = Counter[str]()
        self._evaluation = ExitStack()

    def install(self) -> None:
        """Be told of everything that happens in this process from now on."""
        for name in ("write_bytes", "write_text"):
            setattr(Path, name, self._halves(name, getattr(Path, name)))
        os.fsync = self._before("flush", os.fsync)  # type: ignore[assignment]
        os.replace = self._renaming(os.replace)  # type: ignore[assignment]
        history.open = self._opened  # type: ignore[attr-defined]
        Trainer._validate = self._before("validation", Trainer._validate)  # type: ignore[method-assign]
        Trainer._forward_backward = self._before("batch", Trainer._forward_backward)  # type: ignore[method-assign]
        Trainer._update = self._before("update", Trainer._update)  # type: ignore[method-assign]
        Processes.mean = self._between_ranks(Processes.mean)  # type: ignore[method-assign]
        Trainer._result = self._evaluating(Trainer._result)  # type: ignore[method-assign]
        Run._write_record = self._evaluated(Run._write_record)  # type: ignore[method-assign]

    def hit(self, kind: str, first: Callable[[], object] = lambda: None, *names: Any) -> None:
        """A moment: perhaps the one. ``first`` is done before the harm, such as half of a write.

        ``names`` are what the system's own error would name.
        """
        if self.kinds and kind not in self.kinds:
            return
        self.counts[kind] += 1
        count, full = self.counts.total(), self.harm == "full"
        if not self.at or (count < self.at if full else count != self.at):
            return
        first()
        if full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), *names)
        self.tell(kind)
        os.kill(os.getpid(), signal.SIGKILL if self.harm == "kill" else signal.SIGSTOP)

    def _before(self, kind: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def told(*arguments: Any, **options: Any) -> Any:
            self.hit(kind)
            return call(*arguments, **options)

        return told

    def _renaming(self, call: Callable[..., None]) -> Callable[..., None]:
        def told(source: Any, target: Any) -> None:
            self.hit("rename", lambda: None, str(source), None, str(target))
            call(source, target)

        return told

    def _between_ranks(self, call: Callable[..., float]) -> Callable[..., float]:
        """Gradients are exchanged, the loss is not yet."""

        def told(processes: Processes, value: float) -> float:
            if processes.world > 1:
                self.hit("between processes")
            return call(processes, value)

        return told

    def _evaluating(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def told(*arguments: Any) -> Any:
            if is_main_process() and (not self.kinds or _EVALUATING in self.kinds):  # the others do not measure
                self._evaluation.enter_context(_Operations(lambda: self.hit(_EVALUATING)))
            return call(*arguments)

        return told

    def _evaluated(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def told(*arguments: Any) -> Any:
            self._evaluation.close()
            self.hit("before the record")
            return call(*arguments)

        return told

    def _halves(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def told(path: Path, content: Any, *arguments: Any, **options: Any) -> Any:
            self.hit("write", lambda: call(path, content[: len(content) // 2], *arguments, **options))
            return call(path, content, *arguments, **options)

        return told

    def _opened(self, path: Path, mode: str = "r", **options: Any) -> Any:
        """The history's file; half a line is written of what is added to it."""
        file = open(path, mode, **options)  # noqa: SIM115 - as open does
        if mode == "a":
            write = file.write

            def told(text: str) -> int:
                self.hit("history", lambda: write(text[: len(text) // 2]) and file.flush())
                return write(text)

            file.write = told  # type: ignore[method-assign]
        return file


class _Operations(TorchDispatchMode):
    """Tells of every operation of torch."""

    def __init__(self, tell: Callable[[], None]) -> None:
        super().__init__()
        self.tell = tell

    def __torch_dispatch__(self, operation: Any, types: Any, arguments: Any = (), options: Any = None) -> Any:
        self.tell()
        return operation(*arguments, **(options or {}))
