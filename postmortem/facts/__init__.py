"""What the metric lines and dumps say: series, environment, settings; and the shapes of curves."""
