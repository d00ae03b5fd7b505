"""Train a model from documents, resumable to the same weights."""
