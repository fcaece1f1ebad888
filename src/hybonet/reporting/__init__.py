"""Pictures and tables of trained models."""
