"""Send short messages about a verdict to a chat or a program of the user's."""
