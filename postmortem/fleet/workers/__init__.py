"""Who does the work: tasks in processes of this machine or of a Ray cluster, and their leases.

In: tasks. Out: outcomes. Not here: which tasks there are.
"""
