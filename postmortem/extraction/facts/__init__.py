"""What the metric lines and dumps say: series, environment, settings, checkpoints, the clock."""
