"""From the text of the sources to what was found in it."""
