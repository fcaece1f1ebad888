"""Hierarchies as directed acyclic graphs of names."""
