"""Metric lines and facts: what frameworks print while nothing is wrong yet."""
