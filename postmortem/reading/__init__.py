"""Bytes in, blocks of decoded text and cleaned lines out. Knows nothing of what a line means."""
