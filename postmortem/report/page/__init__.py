"""The page: one HTML file with its drawings; nothing here is known to the other forms."""
