"""One reader (and writer) per format: a path in, documents out."""
