"""The report as one HTML file with its drawings; no other form imports from here."""
