"""A server for coding assistants: tools over the Model Context Protocol."""
