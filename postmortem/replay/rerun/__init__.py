"""Run a capsule's steps again, with one change each: diagnosis by experiment.

In: a capsule. Out: `core.diagnosis.Replayed`, and evidence for `rank`. Only `requested_replay` (the
way in: refusals, then torch) and `verdicts` are free of torch and may be imported by the rest of
the program; `replaying.replay` runs everything.
"""
