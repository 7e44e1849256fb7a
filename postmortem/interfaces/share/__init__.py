"""The smallest excerpt of a log that is judged as the whole log is."""
