"""Metric records on their way into series: one by one, or in rows of learnt templates."""
