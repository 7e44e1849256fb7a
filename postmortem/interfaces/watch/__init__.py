"""Watch the log of a running training, and warn before the program itself stops."""
