"""User interfaces and APIs: command line, HTTP, MCP, bots, notifications."""
