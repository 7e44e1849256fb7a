"""Count the CPU cores that this process may use.

In: nothing. Out: a count. Not here: what to do with them.
"""

import os


def count_cores() -> int:
    """Count the cores that this process may run on; at least one."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
