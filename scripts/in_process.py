"""Run the command ``hybonet`` from a script."""

from __future__ import annotations


def hybonet(command: list[str]) -> None:
    """The command ``hybonet`` in this process, since to start one takes longer than some trainings."""
    from hybonet.cli import app

    if code := app(command, prog_name="hybonet", standalone_mode=False):
        raise SystemExit(code)
