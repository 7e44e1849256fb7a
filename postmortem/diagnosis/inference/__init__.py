"""From evidence to ranked causes.

Predicates, rules, the order of events, and the verdict or the abstention.
"""
