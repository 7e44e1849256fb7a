"""Formats of metric lines, settings and files that frameworks write."""
