"""``hybonet recipes``: complete settings by name."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from hybonet.cli.app import app, clean_errors
from hybonet.cli.options import AsJson, say

#: What published figures are called.
_MEASURES = {"mrr": "MRR", "roc_auc": "AUC", "f1": "F1", "tokenized_bleu": "BLEU", "uuas": "UUAS"}

recipes_app = typer.Typer(help="Complete settings by name, the paper's among them.", no_args_is_help=True)
app.add_typer(recipes_app, name="recipes")


@recipes_app.command("list")
def list_recipes(as_json: AsJson = False) -> None:
    """All recipes with the published figures they aim at."""
    with clean_errors():
        from hybonet.recipes import recipes

        if as_json:
            shown = ("name", "task", "data", "published", "about")
            rows = [{name: getattr(each, name) for name in shown} for each in recipes().values()]
            say(json.dumps(rows, indent=1, ensure_ascii=False))
            return
        from hybonet.reporting.console import Console
        from hybonet.reporting.narrow_table import add_row, narrow_table

        table = narrow_table(["recipe", "task", "data"], ["published"], ["what"])
        for each in recipes().values():
            metric, value = next(iter(each.published.items()), ("", 0.0))
            published = f"{_MEASURES.get(metric, metric)} {value:.3g}" if metric else ""
            add_row(table, each.name, each.task, each.data or "any", published, each.about)
        Console(highlight=False).print(table)


@recipes_app.command("show")
def show_recipe(
    name: Annotated[str, typer.Argument(help="A name from `hybonet recipes list`.")],
    as_json: AsJson = False,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="Show it with this change: model=NAME has that model's settings.")
    ] = None,
) -> None:
    """Every setting of a recipe with its value and meaning; change any with `--set key=value`."""
    with clean_errors():
        from hybonet.recipes import recipe
        from hybonet.reporting.console import Console
        from hybonet.reporting.narrow_table import add_row, narrow_table
        from hybonet.tasks.run import command_for
        from hybonet.training import describe, override

        shown = recipe(name)
        settings = override(shown.settings, set_ or [])
        if as_json:
            say(settings.model_dump_json(indent=2))
            return
        table = narrow_table(["setting", "value"], texts=["meaning"])
        for key, value, meaning in describe(settings):
            add_row(table, key, "none" if value is None else str(value), meaning)
        console = Console(highlight=False)
        console.print(table)
        given = " --data ENCODER" if shown.task == "probe" else ""
        own = {key for key, _, _ in describe(settings)}
        console.print(f"\n{command_for(shown.task)}{given} --recipe {name} --set key=value changes any of these.")
        if shown.ranges:
            searched = ", ".join(f"{key} {each}" for key, each in shown.ranges.items() if key in own)
            console.print(f"hybonet tune {shown.task} --recipe {name} searches {searched}.")
