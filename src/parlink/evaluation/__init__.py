"""Scores of linked documents against gold ones, and what is chosen by them."""
