"""Data that ships with the package, and readers for a user's own."""

from hybonet.data.hierarchy import Hierarchy, display_name, load_hierarchy, shipped_hierarchies

__all__ = ["Hierarchy", "display_name", "load_hierarchy", "shipped_hierarchies"]
