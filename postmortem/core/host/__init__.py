"""The host machine: running a command, worker processes, dumping the environment.

Knows nothing of logs.
"""
