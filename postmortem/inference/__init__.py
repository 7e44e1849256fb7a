"""From evidence to ranked causes: predicates, rules, the order of events, and the verdict or the abstention."""
