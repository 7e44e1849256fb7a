"""The smallest excerpt of a log with the same verdict as the whole log."""
