"""The command ``hybonet``, also as ``python -m hybonet``: nothing is imported before Ctrl-C is looked after."""

import sys

STOPPED = "stopped by Ctrl-C"


def main() -> None:
    """Entry point of the command."""
    try:
        from hybonet.cli import main as run

        run()
    except KeyboardInterrupt:
        print(STOPPED, file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
