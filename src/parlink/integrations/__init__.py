"""Thin adapters: parlink as a part of other people's tools."""
