"""Finding jobs: which files below a place are one job, how they are named, opened and hashed.

In: places. Out: found jobs, their content. Not here: judging them.
"""
