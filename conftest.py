"""Modules that bridge to a package outside of ``dev`` are collected for their examples only where it is installed."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("pykeen") else ["src/hybonet/interop/pykeen.py"]
