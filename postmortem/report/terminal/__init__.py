"""The terminal report: on one screen, or in full."""
