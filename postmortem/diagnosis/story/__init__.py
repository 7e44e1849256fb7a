"""What a report shows besides the causes: timeline, marks, progress, curves, quoted lines."""
