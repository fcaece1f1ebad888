"""Translation from text pairs."""
