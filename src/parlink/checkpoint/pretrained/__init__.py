"""Encoders of the Hugging Face hub: their config, files and weights."""
