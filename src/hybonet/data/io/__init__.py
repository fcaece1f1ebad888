"""Files that data come from: sources, tables, compression, downloads."""
