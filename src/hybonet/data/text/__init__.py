"""Parallel text, and how it is cut into tokens."""
