"""Two runs side by side: what is different, where curves part, what only one of them prints."""
