"""The way of a document, from text to links, in the order of the files."""
