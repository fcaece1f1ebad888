"""The command ``hybonet``."""

import sys

from hybonet.cli import catalogue, demo, export, knowledge_graph
from hybonet.cli.app import app

__all__ = ["app", "catalogue", "demo", "export", "knowledge_graph", "main"]


def main() -> None:
    """Entry point of the command."""
    sys.exit(app())
