"""What the curves of a run measure, and what a model trained on executed runs makes of it."""
