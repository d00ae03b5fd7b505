"""Tokens, windows and natural spacing: nothing else knows about tokens."""
