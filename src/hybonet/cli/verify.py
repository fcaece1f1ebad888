"""``hybonet verify RUN``: whether the files of a run of any task are those that were written."""

from __future__ import annotations

from hybonet.cli.app import app, clean_errors
from hybonet.cli.options import AsJson, say
from hybonet.cli.verbs import Quiet, Run


@app.command()
def verify(run: Run, as_json: AsJson = False, quiet: Quiet = False) -> None:
    """Check every file of a run, or of an exported model, against its checksum.

    Exit code 2 if one is damaged or missing. Files of earlier versions, and pictures, have no checksum: "not checked".

    **Examples**

    `hybonet verify runs/mine`
    """
    with clean_errors():
        import json
        from dataclasses import asdict

        from hybonet.reporting.answers import Answers
        from hybonet.reporting.console import Console
        from hybonet.tasks.run import Run as RunFolder

        found = RunFolder(run).verify()
        if as_json:
            say(json.dumps([asdict(each) for each in found], indent=1))
        elif not quiet:
            for table in Answers({"file": each.name, "state": each.state} for each in found).tables():
                Console(highlight=False).print(table)
        if lost := [each for each in found if each.is_lost]:
            more = f" (and {len(lost) - 1} more)" if len(lost) > 1 else ""
            raise ValueError(f"{run / lost[0].name} is {lost[0].state}{more}: {lost[0].about}")
