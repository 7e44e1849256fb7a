"""Short messages of a verdict on their way to a chat or a program of the user's."""
