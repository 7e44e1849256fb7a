"""The lab's own machinery: what faults there are, where they run, how they are recorded.

It knows nothing of the program that is tested with its logs.
"""
