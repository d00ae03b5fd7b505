"""The knowledge base of the English Wikipedia, from small public sources; `python -m recipes.wikipedia` makes it."""
