"""Fixes: which apply to a cause in this run, in which order, with the user's own numbers."""
