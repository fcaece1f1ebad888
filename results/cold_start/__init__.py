"""What somebody gets with a file of their own: settings that follow from the data, beside the others."""
