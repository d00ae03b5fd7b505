"""Files of documents, linked by many processes, each document exactly once."""
