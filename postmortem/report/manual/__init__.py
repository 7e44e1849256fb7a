"""What the rules know, told by id: the pages of `postmortem explain` and of the reference."""
