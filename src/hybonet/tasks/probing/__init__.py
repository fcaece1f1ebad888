"""Dependency trees found in the states of an encoder."""
