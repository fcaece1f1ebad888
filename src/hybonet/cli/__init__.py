"""The command ``hybonet``."""

import sys

from hybonet.cli import catalogue, demo, export, hierarchy, knowledge_graph, pictures, report
from hybonet.cli.app import app

__all__ = ["app", "catalogue", "demo", "export", "hierarchy", "knowledge_graph", "main", "pictures", "report"]


def main() -> None:
    """Entry point of the command."""
    sys.exit(app())
