"""Entity typing: types of mentions in sentences."""
