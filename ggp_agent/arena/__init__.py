"""Tournaments: who plays whom, the matches, their store, and what the results say."""
