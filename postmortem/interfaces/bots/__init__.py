"""Issues and failed runs of a tracker answered: one comment each, kept up to date."""
