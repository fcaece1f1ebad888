"""Mentions of entities in sentences, and their types."""
