"""Dumps, tables and lists in, a KB folder out."""
