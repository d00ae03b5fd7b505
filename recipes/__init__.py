"""Recipes: how the knowledge bases that ship with parlink are made from public sources."""
