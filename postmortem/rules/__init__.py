"""The knowledge base: YAML in `patterns/` in, typed rules out, every fault with file and line."""
