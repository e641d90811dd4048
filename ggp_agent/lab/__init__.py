"""Experiments of the literature, done again with this search."""
