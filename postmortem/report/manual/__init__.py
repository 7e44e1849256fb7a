"""The pages of `postmortem explain` and of the reference: what the rules know of an id."""
