"""Complete settings by name, each with the published figure it aims at."""

from hybonet.tasks.recipes import Recipe, recipe, recipes

__all__ = ["Recipe", "recipe", "recipes"]
