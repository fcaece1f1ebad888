"""Triples of knowledge graphs."""
