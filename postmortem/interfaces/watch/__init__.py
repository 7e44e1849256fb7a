"""Watches the log of a run that is still going on, and warns before the program itself stops."""
