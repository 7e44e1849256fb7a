"""Workers: run tasks in processes of this machine or of a Ray cluster, under leases.

In: tasks. Out: outcomes. Not here: which tasks there are.
"""
