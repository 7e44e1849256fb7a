"""Record the last steps of a training, keep them in a capsule, and run them again."""
