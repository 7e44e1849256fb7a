"""Many jobs: find them, judge each content once, and aggregate the results.

In: paths, a store, what the scheduler knows. Out: rows, groups, figures. Not here: judging one job
(`pipeline`), keeping rows (`store`), pages (`report`).
"""
