"""Hierarchies embedded in the hyperbolic plane."""
