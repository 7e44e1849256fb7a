"""A job as evidence: which attempt counts, in which order, what failed first, how it ended."""
