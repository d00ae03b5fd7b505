"""Build a knowledge base folder from dumps, tables and lists."""
