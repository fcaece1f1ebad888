"""``python -m hybonet.cli``."""

from hybonet.cli import main

main()
