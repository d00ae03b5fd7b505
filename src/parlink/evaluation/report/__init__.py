"""A finished evaluation as HTML, JSON and plots."""
