"""Compare two runs: settings that differ, where curves diverge, lines that only one prints."""
