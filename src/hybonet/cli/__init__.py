"""The command ``hybonet``."""

import sys

from hybonet.cli import catalogue, demo, knowledge_graph
from hybonet.cli.app import app

__all__ = ["app", "catalogue", "demo", "knowledge_graph", "main"]


def main() -> None:
    """Run the command with the arguments of this process; :func:`hybonet.__main__.main` also guards the imports."""
    sys.exit(app(prog_name="hybonet"))
