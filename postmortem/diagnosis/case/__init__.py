"""A job as evidence: the attempt that counts, the order of events, first failure, outcome."""
