"""A General Game Playing agent."""
