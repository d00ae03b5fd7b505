"""A model folder: load, save, narrow, describe, export."""
