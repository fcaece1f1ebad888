"""How deep stacks of the default layers learn, beside torch's with norms first."""
