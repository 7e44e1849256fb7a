"""The terminal report: on one screen, or whole."""
