"""The application object and what all commands share. Heavy imports wait until a command needs them: help is quick."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from hybonet.__main__ import STOPPED
from hybonet.cli.options import say

EXAMPLES = """
**Examples**

Train on the WordNet graph inside the package, ask the model and draw what it knows, in a minute or two: `hybonet demo`

Knowledge graphs, your own triples: `hybonet train kg --data my_triples.tsv --out runs/mine`, then
`hybonet predict runs/mine --head dog --relation eats`

Missing links and classes of graphs: `hybonet train graph --data my_edges.csv --out runs/links`

Translation: `hybonet train translation --data my_pairs.tsv --out runs/mt`, then `hybonet translate runs/mt`

Syntax in an encoder's states: `hybonet probe runs/mt --trees my_trees.conllu --out runs/probe`

Types of mentions: `hybonet train typing --data my_mentions --out runs/types`

A hierarchy in the hyperbolic plane: `hybonet train hierarchy --data my_edges.csv --out runs/tree`

Without `--data`, each task takes what ships in the package. Better settings: `hybonet tune kg --data my_triples.tsv
--out runs/search`. The paper's: `hybonet recipes list`. Benchmarks by name: `hybonet data list`.
"""

#: What torch says where a size is beyond the memory, or beyond all numbers.
_TOO_LARGE = ("not enough memory", "can't allocate memory", "out of memory", "Storage size calculation overflowed")

#: The commands, in the order of their use.
_ORDER = (
    "demo", "train", "evaluate", "predict", "plot", "export", "tune", "report", "data", "recipes", "verify",
    "translate", "probe",
)  # fmt: skip


class _InOrder(TyperGroup):
    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(
            super().list_commands(ctx), key=lambda name: _ORDER.index(name) if name in _ORDER else len(_ORDER)
        )


app = typer.Typer(
    cls=_InOrder,
    help="Fully hyperbolic neural networks in the Lorentz model.",
    epilog=EXAMPLES,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from hybonet import __version__

        say(f"hybonet {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and leave.")
    ] = False,
) -> None:
    pass


@contextmanager
def clean_errors(text: Callable[[Exception], str] = str) -> Iterator[None]:
    """A user's mistake is one line on standard error and exit code 2, Ctrl-C one line and 130; neither a traceback."""
    try:
        _import_torch()
        yield
    except BrokenPipeError:
        raise  # the reader of our output has left: typer ends quietly
    except OSError as error:
        where = f"{error.filename}: " if error.filename is not None else ""
        say(f"error: {where}{error.strerror or error}", err=True)
        raise typer.Exit(2) from None
    except ValueError as error:
        say(f"error: {text(error)}", err=True)
        raise typer.Exit(2) from None
    except (MemoryError, RuntimeError) as error:
        if not isinstance(error, MemoryError) and not any(words in str(error) for words in _TOO_LARGE):
            raise
        first = (str(error) or "out of memory").splitlines()[0]
        say(f"error: expected settings and data that the memory has room for, got: {first}", err=True)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        say(STOPPED, err=True)
        raise typer.Exit(130) from None


def _import_torch() -> None:
    """Import torch, which all commands need, with Ctrl-C put off until it is there.

    Interrupted half-way, its C++ part may abort the process, or numpy refuse to be imported again.
    """
    put_off = (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    pressed: list[int] = []
    if put_off:
        signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        import_module("torch")
    finally:
        if put_off:
            signal.signal(signal.SIGINT, signal.default_int_handler)
    if pressed:
        raise KeyboardInterrupt
