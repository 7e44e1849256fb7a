"""Which failures are alike: fingerprints of known causes, clusters of unknown ones.

In: analyses or their rows. Out: ids of groups. Not here: counting jobs.
"""
