"""What the scheduler knows: its records read, joined with jobs, counted.

In: a scheduler's file, judged jobs. Out: allocations, figures. Not here: the jobs' logs.
"""
