"""The machine that the program itself runs on: running a command, dumping the environment.

Knows nothing of logs.
"""
