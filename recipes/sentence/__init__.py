"""Vectors of sentences for the model that ships, distilled from another encoder: `python -m recipes.sentence`."""
