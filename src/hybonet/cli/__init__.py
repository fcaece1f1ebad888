"""The command ``hybonet``."""

import sys

from hybonet.__main__ import STOPPED
from hybonet.cli import aliases, data, demo, recipes, report, training, tune, verbs, verify
from hybonet.cli.app import app

__all__ = ["aliases", "app", "data", "demo", "main", "recipes", "report", "training", "tune", "verbs", "verify"]


def main() -> None:
    """Run the command with the arguments of this process; :func:`hybonet.__main__.main` also guards the imports."""
    try:
        app(prog_name="hybonet")
    except SystemExit as leaving:
        # Ctrl-C outside a command's own code is turned by typer into a silent exit.
        if isinstance(getattr(leaving.__context__, "__cause__", None), KeyboardInterrupt):
            print(STOPPED, file=sys.stderr)
        raise
