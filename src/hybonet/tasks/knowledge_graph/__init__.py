"""Knowledge graphs: missing triples."""
