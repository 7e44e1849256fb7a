"""Many jobs: finding them, judging each content once, and what they say together.

In: paths, a store, what the scheduler knows. Out: rows, groups, figures. Not here: judging one job
(`pipeline`), keeping rows (`store`), pages (`report`).
"""
