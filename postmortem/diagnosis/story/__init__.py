"""What a report tells besides the causes: timeline, marks, progress, curves, quoted lines."""
