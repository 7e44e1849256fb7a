"""Record the last steps of a training, store them in a capsule, and run them again."""
