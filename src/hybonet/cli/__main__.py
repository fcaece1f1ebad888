"""``python -m hybonet.cli``."""

from hybonet.__main__ import main

main()
