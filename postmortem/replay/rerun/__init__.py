"""Run a capsule's steps again, with one change each: diagnosis by experiment.

In: a capsule. Out: `core.replayed.Replayed`, and evidence for `rank`. Its modules import torch, so
they are imported only for a replay.
"""
