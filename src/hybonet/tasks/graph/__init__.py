"""Links and classes of graphs."""
