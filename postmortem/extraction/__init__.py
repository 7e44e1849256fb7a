"""Extract findings, tracebacks, series and facts from the text of the sources."""
