"""A server that coding assistants ask: tools over the Model Context Protocol."""
