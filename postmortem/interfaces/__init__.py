"""What people and other programs talk to: commands, HTTP, MCP, bots, notifications."""
