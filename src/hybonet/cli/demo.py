"""``hybonet demo``: the whole way from triples to answers with one command."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from hybonet.cli.app import app, clean_errors
from hybonet.cli.options import say

_EXAMPLES = """
**Examples**

`hybonet demo` trains, measures, asks and draws; a minute or two on two cores.

`hybonet demo --out runs/again --no-plot` needs no matplotlib.
"""


@app.command(epilog=_EXAMPLES)
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the run; it must be new or empty.")] = Path("runs/demo"),
    plot: Annotated[bool, typer.Option("--plot/--no-plot", help="Draw pictures, too.")] = True,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier run in the same folder.")] = False,
) -> None:
    """Train a knowledge-graph model on the package's WordNet graph, measure it, ask it, and draw what it knows.

    The same as `hybonet train kg`, some questions for `hybonet predict`, and `hybonet plot`.
    """
    with clean_errors():
        from hybonet.cli.training import train
        from hybonet.tasks.api import load
        from hybonet.tasks.base import spec
        from hybonet.tasks.run_folder import holds_run

        if holds_run(out) and not overwrite:
            raise ValueError(
                f"expected a new or empty folder, but {str(out)!r} holds an earlier run; add --overwrite to replace "
                "it, or choose another --out"
            )
        train(spec("kg"), out=out, overwrite=overwrite, budget="0")  # the data decide, and no race
        model = load(out)
        _show_examples(model)
        if plot and not find_spec("matplotlib"):
            say(f"No pictures: matplotlib is not installed. Run pip install 'hybonet[plot]', then hybonet plot {out}")
        elif plot:
            for path in model.plot():
                say(f"Picture: {path}")


def _show_examples(model: Any) -> None:
    from hybonet.reporting.console import Console
    from hybonet.tasks.knowledge_graph.examples import held_out_examples
    from hybonet.tasks.knowledge_graph.report import examples_table

    rows = [
        (
            example.question,
            [(answer.name, answer.probability, answer.label in example.true) for answer in example.answers],
            example.truth,
        )
        for example in held_out_examples(model)
    ]
    console = Console(highlight=False)
    console.print("\nTest questions about well-connected entities, chosen without looking at the answers:")
    console.print(examples_table(rows))
