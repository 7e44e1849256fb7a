"""Finding signatures: literal prefilter, regexes on candidate lines, tracebacks joined."""
