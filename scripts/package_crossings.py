"""Count how often a command crosses from one package of hybonet into another: calls, and kinds of calls.

A crossing is a call of a function of one top-level package (``cli``, ``data``, ``tasks``, …) from a function of
another; what is called in between outside of hybonet counts as the caller's. Imports do not count. It works
in any checkout::

    PYTHONPATH=src python scripts/package_crossings.py train kg --data facts.tsv --out runs/new --threads 1
"""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

#: What stands below every task: layers and their mathematics.
_CORE = {"geometry", "nn", "kernels", "optim"}


def package_of(frame: FrameType | None, root: str) -> str | None:
    """The top-level package that a frame's code stands in; None outside of hybonet, or where it is imported."""
    if frame is None or not frame.f_code.co_filename.startswith(root) or frame.f_code.co_name == "<module>":
        return None
    return frame.f_code.co_filename[len(root) :].partition("/")[0].removesuffix(".py")


def count(command: list[str]) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str, str]]]:
    """Carry out a command of hybonet in this process; calls by pair of packages, and by pair and function called."""
    import hybonet
    from hybonet.cli import app

    root = str(Path(hybonet.__file__).parent) + "/"
    pairs: Counter[tuple[str, str]] = Counter()
    functions: Counter[tuple[str, str, str]] = Counter()

    def look(frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or (inside := package_of(frame, root)) is None:
            return
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(root):
            caller = caller.f_back  # through torch, pydantic or typer
        outside = package_of(caller, root)
        if outside is not None and outside != inside:
            pairs[outside, inside] += 1
            functions[outside, inside, frame.f_code.co_qualname] += 1

    sys.setprofile(look)
    try:
        with suppress(SystemExit):
            app(command, standalone_mode=False)
    finally:
        sys.setprofile(None)
    return pairs, functions


def main() -> None:
    """Entry point of the script."""
    pairs, functions = count(sys.argv[1:])
    above = [each for each in functions if each[1] not in _CORE]
    print(
        f"{len(pairs)} pairs of packages; {len(functions)} functions called across, {len(above)} of them not of the "
        f"core; {sum(pairs.values()):,} calls"
    )
    for (outside, inside), calls in sorted(pairs.items()):
        called = sum(each[:2] == (outside, inside) for each in functions)
        print(f"  {outside} -> {inside}: {called} functions, {calls:,} calls")


if __name__ == "__main__":
    main()
