"""A capsule's steps are run again, and with one thing changed each: the diagnosis as an experiment.

In: a capsule. Out: `core.replayed.Replayed`, and evidence for `rank`. Its modules import torch, so
they are imported by what was asked to replay, and by nothing else.
"""
