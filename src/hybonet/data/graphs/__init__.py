"""Graphs with features and labels of their nodes."""
