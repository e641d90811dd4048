"""The laboratory: experiments of the papers that this agent is built on, with our results beside theirs.

An experiment is a function of an order: where to keep results, how many runs to make, a seed. It returns rows that hold
our number, theirs, and how many standard errors they differ; it draws the figures of the paper beside its results. What
was computed is written down at once, so an experiment that was interrupted goes on where it was.
"""

from ggp_agent.lab.record import Order, Record
from ggp_agent.lab.rows import Row

__all__ = ["Order", "Record", "Row"]
